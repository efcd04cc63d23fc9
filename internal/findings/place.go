package findings

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"
)

// relative is a file as seen from the working folder, which is where the jobs of
// GitHub and GitLab begin; a file elsewhere stays as it is.
func relative(folder, file string) string {
	file, folder = path.Clean(filepath.ToSlash(file)), filepath.ToSlash(folder)
	if below, ok := strings.CutPrefix(file, strings.TrimSuffix(folder, "/")+"/"); ok && folder != "" {
		return below
	}
	return file
}

// uri is a file as a URI, relative where the file is.
func uri(file string) string {
	u := url.URL{Path: file}
	if path.IsAbs(file) {
		u.Scheme = "file"
	}
	return u.String()
}
