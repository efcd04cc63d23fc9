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
	MaxNodes = 1 << 18 // fields and items, aliases expanded; 5,000 services need 200,000

	maxSigns    = 1 << 19 // characters of a YAML file that may begin a field or an item
	maxFindings = 1000    // of one profile
	maxMessage  = 1000    // characters of a finding's message, subject or hint
)

// The ids of the findings that this package makes.
const (
	Unreadable       = "schema/unreadable"
	TooLarge         = "schema/too-large"
	TooMany          = "schema/too-many-findings"
	NotYAML          = "schema/not-yaml"
	NotCUE           = "schema/not-cue"
	NotAProfile      = "schema/not-a-profile"
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
	// Evaluator evaluates CUE profiles within bounds of time and memory; without
	// one they are evaluated in this process, where there are none.
	Evaluator *Evaluator

	schema *compiled
}

// Load is the package's Load.
func (l *Loader) Load(fsys fs.FS, file string) (*profile.Profile, diag.List) {
	return finish(l.load(fsys, file))
}

// finish leaves no profile beside an error.
func finish(p *profile.Profile, findings diag.List) (*profile.Profile, diag.List) {
	findings = presented(findings)
	if findings.HasErrors() {
		return nil, findings
	}
	return p, findings
}

// Parse is Load for the text of a YAML profile that is no file; findings call it
// file.
func (l *Loader) Parse(file string, data []byte) (*profile.Profile, diag.List) {
	if len(data) > MaxSize {
		return nil, diag.List{tooLarge(file)}
	}
	root, findings := readYAML(file, data)
	return finish(l.judge(file, root, findings))
}

func (l *Loader) load(fsys fs.FS, file string) (*profile.Profile, diag.List) {
	root, findings := l.read(fsys, file)
	return l.judge(file, root, findings)
}

// judge is what a tree comes to, beside the findings that it was read with.
func (l *Loader) judge(file string, root *node, findings diag.List) (*profile.Profile, diag.List) {
	if root == nil {
		return nil, findings
	}
	if err := l.ready(); err != nil {
		return nil, append(findings, atTop(file, Unreadable, err.Error(), ""))
	}
	w := &walk{schema: l.schema, positions: map[string]diag.Pos{}, lasts: map[string]int{}, refused: map[string]bool{}, findings: findings}
	if !w.document(root) || w.full() {
		return nil, w.findings
	}
	fill(root, l.schema.defaults)
	p, err := decode(root)
	if err != nil {
		return nil, append(w.findings, atTop(file, InvalidValue, err.Error(), ""))
	}
	p.File, p.Positions, p.LastLines = file, w.positions, w.lasts
	surviveByZones(p)
	return p, append(w.findings, check(p, w.refused)...)
}

// presented sorts the findings and cuts them to what a person can read, each of
// them and all together.
func presented(findings diag.List) diag.List {
	for i := range findings {
		f := &findings[i]
		f.Message, f.Subject, f.Hint = clipTo(f.Message, maxMessage), clipTo(f.Subject, maxMessage), clipTo(f.Hint, maxMessage)
	}
	return findings.Sorted().Cut(maxFindings, TooMany, "%d findings and more: the rest of the profile was not judged")
}

func (l *Loader) ready() (err error) {
	if l.schema != nil {
		return nil
	}
	l.schema, err = compile()
	return err
}

func (l *Loader) read(fsys fs.FS, file string) (*node, diag.List) {
	switch path.Ext(file) {
	case ".yaml", ".yml":
		data, problem := readFile(fsys, file)
		if problem != nil {
			return nil, diag.List{*problem}
		}
		return readYAML(file, data)
	case ".cue":
		return l.readCUE(fsys, file)
	}
	return nil, diag.List{atTop(file, Unreadable,
		fmt.Sprintf("%s is not a profile by its name", file), "name it profile.yaml, profile.yml or profile.cue")}
}

func readFile(fsys fs.FS, file string) ([]byte, *diag.Finding) {
	data, err := ReadBounded(fsys, file)
	if errors.Is(err, errTooLarge) {
		f := tooLarge(file)
		return nil, &f
	}
	if err != nil {
		f := atTop(file, Unreadable, "the file cannot be read: "+diag.Reason(err), "")
		return nil, &f
	}
	return data, nil
}

func tooLarge(file string) diag.Finding {
	return atTop(file, TooLarge, fmt.Sprintf("the file is larger than %d MiB", MaxSize>>20), tooLargeHint)
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
	return readOpened(fsys, file)
}

func readOpened(fsys fs.FS, file string) ([]byte, error) {
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
