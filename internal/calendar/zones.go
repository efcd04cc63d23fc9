package calendar

import (
	"archive/zip"
	"bytes"
	_ "embed" // the zone database
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// zoneinfo is the IANA time zone database 2025c, as Go distributes it
// (lib/time/zoneinfo.zip). The copy is here because time.LoadLocation prefers
// the ZONEINFO variable and the host's files to what a program embeds.
//
//go:embed zoneinfo.zip
var zoneinfo []byte

var zoneFiles = sync.OnceValues(func() (map[string]*zip.File, error) {
	r, err := zip.NewReader(bytes.NewReader(zoneinfo), int64(len(zoneinfo)))
	if err != nil {
		return nil, fmt.Errorf("read the embedded zone database: %w", err)
	}
	files := map[string]*zip.File{}
	for _, f := range r.File {
		if !f.FileInfo().IsDir() {
			files[f.Name] = f
		}
	}
	return files, nil
})

// Location is the zone of that IANA name ("Asia/Seoul"), from the embedded
// database alone; ok is false when it has none of that name.
func Location(name string) (loc *time.Location, ok bool) {
	files, err := zoneFiles()
	if err != nil || files[name] == nil {
		return nil, false
	}
	r, err := files[name].Open()
	if err != nil {
		return nil, false
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, false
	}
	loc, err = time.LoadLocationFromTZData(name, data)
	return loc, err == nil
}

// ZoneNames are the names of the embedded database, sorted.
func ZoneNames() []string {
	files, _ := zoneFiles()
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
