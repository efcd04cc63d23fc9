package schema

import (
	"io/fs"
	"path"

	"go.yaml.in/yaml/v3"

	"github.com/meshgen/meshgen/internal/diag"
)

// Name reads no more of a profile than the cluster's name and where it stands, where
// that is written out; ok is false when it cannot be read. Load says what is wrong.
func (l *Loader) Name(fsys fs.FS, file string) (name string, pos diag.Pos, ok bool) {
	if path.Ext(file) == ".cue" {
		return l.loadedName(fsys, file)
	}
	data, err := ReadBounded(fsys, file)
	if err != nil || unparsable(file, data) != nil {
		return "", pos, false
	}
	// A node, for into anything else each key is compared with all others.
	var doc yaml.Node
	if yaml.Unmarshal(data, &doc) != nil || len(doc.Content) == 0 {
		return "", pos, false
	}
	n := valueOf(valueOf(doc.Content[0], "metadata"), "name")
	if n == nil || n.Kind != yaml.ScalarNode || n.Value == "" {
		return l.loadedName(fsys, file) // an alias or a merge may make one
	}
	return n.Value, diag.Pos{File: file, Line: n.Line, Column: n.Column}, true
}

// loadedName is the name of a profile that has to be loaded for it.
func (l *Loader) loadedName(fsys fs.FS, file string) (name string, pos diag.Pos, ok bool) {
	p, _ := l.Load(fsys, file)
	if p == nil {
		return "", pos, false
	}
	return p.Metadata.Name, p.Pos("metadata.name"), true
}

// valueOf is the value of a key of a mapping, through an alias, or nil.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
