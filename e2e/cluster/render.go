package cluster

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"
)

// Folder is the folder of a cluster in golden/.
func Folder(name string) string { return root + "/golden/" + name }

// Render renders the profile in a file into a folder of the test's own, with
// more flags where they are given, and returns the cluster's folder there.
func Render(t testing.TB, file string, flags ...string) string {
	t.Helper()
	out := t.TempDir()
	if findings, err := render(t, file, out, flags...); err != nil {
		t.Fatalf("meshgen render %s: %v\n%s", file, err, findings)
	}
	folders, err := filepath.Glob(out + "/*/PLAN.md")
	if err != nil || len(folders) != 1 {
		t.Fatalf("meshgen render %s: %d clusters, %v; want one", file, len(folders), err)
	}
	return filepath.Dir(folders[0])
}

// Refuse is what meshgen says of a profile that it does not render.
func Refuse(t testing.TB, file string, flags ...string) string {
	t.Helper()
	findings, err := render(t, file, t.TempDir(), flags...)
	if err == nil {
		t.Fatalf("meshgen render %s: no error\n%s", file, findings)
	}
	return findings
}

func render(t testing.TB, file, out string, flags ...string) (findings string, err error) {
	t.Helper()
	profile, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", append([]string{"run", "./cmd/meshgen", "render", profile, "-o", out}, flags...)...)
	cmd.Dir = root
	var text bytes.Buffer
	cmd.Stderr = &text
	err = cmd.Run()
	return text.String(), err
}

// Files are those below a cluster's folder that match a pattern, sorted by path,
// each with its text.
func Files(t testing.TB, folder, pattern string) []File {
	t.Helper()
	found, err := filepath.Glob(folder + "/" + pattern)
	if err != nil {
		t.Fatal(err)
	}
	var files []File
	for _, file := range found {
		below, err := filepath.Rel(filepath.Dir(folder), file)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, File{Path: filepath.ToSlash(below), Text: string(read(t, file))})
	}
	return files
}
