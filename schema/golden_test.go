package schema_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/meshgen/meshgen/schema"
)

var update = flag.Bool("update", false, "rewrite the expected findings in testdata")

// Each archive is one mistake: its files, or an edit of minimal.yaml ("<" lines
// are replaced by the ">" lines after them, edits are a blank line apart), and the findings as printed.
func TestFindings(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) < 35 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	for _, file := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fsys, name, want := unpack(t, archive)
			p, findings := schema.Load(fsys, name)
			if (p == nil) != findings.HasErrors() {
				t.Errorf("profile %v beside findings %v", p, findings)
			}
			var got bytes.Buffer
			if err := findings.Text(&got); err != nil {
				t.Fatal(err)
			}
			if *update {
				rewrite(t, file, archive, got.Bytes())
			} else if diff := cmp.Diff(want, got.String()); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func unpack(t *testing.T, archive *txtar.Archive) (fsys fs.FS, name, want string) {
	t.Helper()
	files := fstest.MapFS{}
	for _, f := range archive.Files {
		data := f.Data
		switch {
		case f.Name == "want":
			want = string(f.Data)
			continue
		case f.Name == "edit":
			f.Name, data = "profile.yaml", []byte(edited(t, string(f.Data)))
		}
		files[f.Name] = &fstest.MapFile{Data: data}
		if strings.HasPrefix(path.Base(f.Name), "profile.") {
			name = f.Name
		}
	}
	return files, name, want
}

func edited(t *testing.T, edit string) string {
	t.Helper()
	base, err := os.ReadFile("testdata/minimal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	result := string(base)
	lines := strings.SplitAfter(edit, "\n")
	for len(lines) > 1 {
		_, lines = taken(lines, "\n")
		old, rest := taken(lines, "<")
		replacement, rest := taken(rest, ">")
		if old == "" || strings.Count(result, old) != 1 {
			t.Fatalf("minimal.yaml holds %d of %q", strings.Count(result, old), old)
		}
		result, lines = strings.Replace(result, old, replacement, 1), rest
	}
	return result
}

func taken(lines []string, mark string) (text string, rest []string) {
	for len(lines) > 0 && strings.HasPrefix(lines[0], mark) {
		text, lines = text+lines[0][1:], lines[1:]
	}
	return text, lines
}

func rewrite(t *testing.T, file string, archive *txtar.Archive, want []byte) {
	t.Helper()
	original, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	kept := original.Files[:0]
	for _, f := range original.Files {
		if f.Name != "want" {
			kept = append(kept, f)
		}
	}
	original.Files = append(kept, txtar.File{Name: "want", Data: want})
	if err := os.WriteFile(file, txtar.Format(original), 0o644); err != nil {
		t.Fatal(fmt.Errorf("update %s: %w", file, err))
	}
}
