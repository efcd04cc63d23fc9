package schema

import (
	"bytes"
	"io/fs"
	"testing"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// QueryFault is queryFault.
var QueryFault = queryFault

// ReadJSON is the profile as the JSON that it stands for; ok is false when
// reading alone refuses it, and no schema is asked.
func ReadJSON(fsys fs.FS, file string) (data []byte, ok bool) {
	root, findings := new(Loader).read(fsys, file)
	if root == nil || len(findings) > 0 {
		return nil, false
	}
	return root.appendJSON(nil), true
}

// CompileJSONSchema compiles the schema that a document holds.
func CompileJSONSchema(t testing.TB, data []byte) *jsonschema.Schema {
	t.Helper()
	return compileAt(t, compiler(t, data), "")
}

func compileAt(t testing.TB, c *jsonschema.Compiler, pointer string) *jsonschema.Schema {
	t.Helper()
	s, err := c.Compile(document + "#" + pointer)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const document = "profile.schema.json"

// compiler knows the regular expressions of JavaScript, as editors do.
func compiler(t testing.TB, data []byte) *jsonschema.Compiler {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) {
		re, err := regexp2.Compile(pattern, regexp2.ECMAScript|regexp2.Unicode)
		return ecmaScript{re}, err
	})
	if err := c.AddResource(document, decodeJSON(t, data)); err != nil {
		t.Fatal(err)
	}
	return c
}

func decodeJSON(t testing.TB, data []byte) any {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

type ecmaScript struct{ *regexp2.Regexp }

// MatchString reports whether the text has a match.
func (e ecmaScript) MatchString(text string) bool {
	ok, err := e.Regexp.MatchString(text)
	return ok && err == nil
}
