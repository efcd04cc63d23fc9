package schema

import (
	"io/fs"
	"path"

	"go.yaml.in/yaml/v3"

	"github.com/meshgen/meshgen/internal/diag"
)

// Name reads no more of a profile than the cluster's name and where it stands;
// ok is false when that alone cannot be read. Load says what is wrong.
func Name(fsys fs.FS, file string) (name string, pos diag.Pos, ok bool) {
	if path.Ext(file) == ".cue" {
		p, _ := Load(fsys, file)
		if p == nil {
			return "", pos, false
		}
		return p.Metadata.Name, p.Pos("metadata.name"), true
	}
	data, err := ReadBounded(fsys, file)
	if err != nil {
		return "", pos, false
	}
	var doc struct {
		Metadata struct {
			Name yaml.Node `yaml:"name"`
		} `yaml:"metadata"`
	}
	if yaml.Unmarshal(data, &doc) != nil || doc.Metadata.Name.Value == "" {
		return "", pos, false
	}
	n := doc.Metadata.Name
	return n.Value, diag.Pos{File: file, Line: n.Line, Column: n.Column}, true
}
