package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
)

// What a profile may cost at most; anything beyond is refused unread or half read.
const (
	MaxSize  = 8 << 20 // bytes of a file, or of all files of a CUE profile
	MaxDepth = 64      // levels of nesting
	MaxNodes = 1 << 20 // fields and items, aliases expanded
)

// The ids of the findings that this package makes.
const (
	Unreadable       = "schema/unreadable"
	TooLarge         = "schema/too-large"
	NotYAML          = "schema/not-yaml"
	NotCUE           = "schema/not-cue"
	UnknownField     = "schema/unknown-field"
	MissingField     = "schema/missing-field"
	DuplicateField   = "schema/duplicate-field"
	DuplicateName    = "schema/duplicate-name"
	InvalidValue     = "schema/invalid-value"
	UnknownReference = "schema/unknown-reference"
	Inconsistent     = "schema/inconsistent"
)

// Load reads the profile at path, judges all of it in one round and fills in
// the defaults. The profile is nil when a finding is an error. A YAML profile
// (.yaml, .yml) is one file; a CUE profile (.cue) is the package in its folder.
func Load(fsys fs.FS, file string) (*profile.Profile, diag.List) {
	return new(Loader).Load(fsys, file)
}

// Loader loads one profile after another with one compiled schema; the zero
// Loader has still to compile it. It is for one goroutine, as a CUE context is.
type Loader struct {
	schema *compiled
	judged map[judgement]bool // by CUE; profiles of a fleet have most of their values in common
}

// contextValues is how many values a CUE context may judge before the Loader
// takes a new one: a context never gives memory back.
const contextValues = 1 << 14

// Load is the package's Load.
func (l *Loader) Load(fsys fs.FS, file string) (*profile.Profile, diag.List) {
	root, findings := read(fsys, file)
	if root == nil {
		return nil, findings.Sorted()
	}
	if err := l.ready(); err != nil {
		return nil, append(findings, atTop(file, Unreadable, err.Error(), ""))
	}
	w := &walk{schema: l.schema, positions: map[string]diag.Pos{}, judged: l.judged, findings: findings}
	if !w.document(root) {
		return nil, w.findings.Sorted()
	}
	fill(root, l.schema.defaults)
	p, err := decode(root)
	if err != nil {
		return nil, append(w.findings, atTop(file, InvalidValue, err.Error(), "")).Sorted()
	}
	p.File, p.Positions = file, w.positions
	surviveByZones(p)
	findings = append(w.findings, check(p)...).Sorted()
	if findings.HasErrors() {
		return nil, findings
	}
	return p, findings
}

// ready compiles the schema, at first and when the context has grown old. What
// it has judged is remembered for as long.
func (l *Loader) ready() error {
	if l.schema != nil && len(l.judged) < contextValues {
		return nil
	}
	s, err := compile()
	l.schema, l.judged = s, map[judgement]bool{}
	return err
}

func read(fsys fs.FS, file string) (*node, diag.List) {
	switch path.Ext(file) {
	case ".yaml", ".yml":
		data, problem := readFile(fsys, file)
		if problem != nil {
			return nil, diag.List{*problem}
		}
		return readYAML(file, data)
	case ".cue":
		return readCUE(fsys, file)
	}
	return nil, diag.List{atTop(file, Unreadable,
		fmt.Sprintf("%s is not a profile by its name", file), "name it profile.yaml, profile.yml or profile.cue")}
}

func readFile(fsys fs.FS, file string) ([]byte, *diag.Finding) {
	data, err := ReadBounded(fsys, file)
	if errors.Is(err, errTooLarge) {
		f := atTop(file, TooLarge, fmt.Sprintf("the file is larger than %d bytes", MaxSize), "split the cluster, or leave out what formulas do not read")
		return nil, &f
	}
	if err != nil {
		f := atTop(file, Unreadable, fmt.Sprintf("the file cannot be read: %v", err), "")
		return nil, &f
	}
	return data, nil
}

var (
	errTooLarge   = errors.New("too large")
	errNotRegular = errors.New("not a regular file")
)

// ReadBounded reads a file of at most MaxSize bytes. It looks at the kind and
// size before it opens: a named pipe would block, and a large file would be read
// in vain.
func ReadBounded(fsys fs.FS, file string) ([]byte, error) {
	info, err := fs.Stat(fsys, file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	if info.Size() > MaxSize {
		return nil, errTooLarge
	}
	f, err := fsys.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err == nil && len(data) > MaxSize {
		err = errTooLarge
	}
	return data, err
}

func decode(root *node) (*profile.Profile, error) {
	p := &profile.Profile{}
	if err := json.Unmarshal(root.appendJSON(nil), p); err != nil {
		return nil, fmt.Errorf("decode the profile: %w", err)
	}
	return p, nil
}

// surviveByZones is the one default that depends on the profile: a mesh of one
// zone cannot survive its loss, so there the promise is the loss of a pod.
func surviveByZones(p *profile.Profile) {
	if p.Spec.Istiod.Survive.Mode != "" {
		return
	}
	p.Spec.Istiod.Survive.Mode = "zone"
	if len(p.Spec.Zones) == 1 {
		p.Spec.Istiod.Survive.Mode = "pod"
	}
}

func atTop(file, id, message, hint string) diag.Finding {
	return diag.Finding{
		Severity: diag.Error, ID: id, Pos: diag.Pos{File: file, Line: 1, Column: 1},
		Message: message, Hint: hint,
	}
}
