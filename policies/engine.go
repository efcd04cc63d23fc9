package policies

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/meshgen/meshgen/internal/recent"
)

//go:embed */*.rego input.json
var files embed.FS

// engine is every policy, compiled; it is read-only and safe to share.
type engine struct {
	policies map[string]Policy // by id
	deny     rego.PreparedEvalQuery
	input    *jsonschema.Schema       // input.json
	objects  *jsonschema.Schema       // its objects alone
	judged   *recent.Memory[[]denial] // by all that is judged
}

// compiled is the one engine of the program: compiling costs more than a check.
var compiled = sync.OnceValues(newEngine)

func newEngine() (*engine, error) {
	schema, err := inputSchema()
	if err != nil {
		return nil, err
	}
	modules, err := parseModules(files, func(path string) bool { return !strings.HasSuffix(path, "_test.rego") })
	if err != nil {
		return nil, err
	}
	compiler, err := compile(modules, newCompiler().WithSkipStages(ast.StageCheckTypes)) // which the tests have passed
	if err != nil {
		return nil, err
	}
	e := &engine{judged: recent.New[[]denial](64)}
	if e.policies, err = catalogue(modules); err != nil {
		return nil, err
	}
	if e.deny, err = prepared("data.meshgen[subject][policy].deny[v]", rego.Compiler(compiler)); err != nil {
		return nil, fmt.Errorf("prepare policies: %w", err)
	}
	if e.input, e.objects, err = validators(schema); err != nil {
		return nil, fmt.Errorf("compile schema of policy input: %w", err)
	}
	return e, nil
}

// validators are the schema compiled, of the whole and of the objects alone. No
// loader is given, so that a reference to anywhere else does not compile.
func validators(schema map[string]any) (input, objects *jsonschema.Schema, err error) {
	const name = "input.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if err := c.AddResource(name, schema); err != nil {
		return nil, nil, err
	}
	if input, err = c.Compile(name); err != nil {
		return nil, nil, err
	}
	objects, err = c.Compile(name + "#/properties/objects")
	return input, objects, err
}

func prepared(query string, options ...func(*rego.Rego)) (rego.PreparedEvalQuery, error) {
	options = append(options, rego.Query(query), rego.StrictBuiltinErrors(true))
	q, err := rego.New(options...).PrepareForEval(context.Background())
	if err != nil {
		return q, fmt.Errorf("%s: %w", query, err)
	}
	return q, nil
}

func inputSchema() (map[string]any, error) {
	b, err := files.ReadFile("input.json")
	if err != nil {
		return nil, fmt.Errorf("read schema of policy input: %w", err)
	}
	var schema map[string]any
	if err := json.Unmarshal(b, &schema); err != nil {
		return nil, fmt.Errorf("read schema of policy input: %w", err)
	}
	return schema, nil
}

// parseModules reads the Rego files whose path is kept, with their METADATA.
func parseModules(from fs.FS, keep func(path string) bool) (map[string]*ast.Module, error) {
	paths, err := fs.Glob(from, "*/*.rego")
	if err != nil {
		return nil, fmt.Errorf("list policies: %w", err)
	}
	modules := map[string]*ast.Module{}
	for _, path := range paths {
		if !keep(path) {
			continue
		}
		b, err := fs.ReadFile(from, path)
		if err != nil {
			return nil, fmt.Errorf("read policy: %w", err)
		}
		modules[path], err = ast.ParseModuleWithOpts(path, string(b), ast.ParserOptions{
			ProcessAnnotation: true, RegoVersion: ast.RegoV1, Capabilities: capabilities(),
		})
		if err != nil {
			return nil, fmt.Errorf("parse policy: %w", err)
		}
	}
	return modules, nil
}

func newCompiler() *ast.Compiler {
	return ast.NewCompiler().WithCapabilities(capabilities()).WithDefaultRegoVersion(ast.RegoV1)
}

func compile(modules map[string]*ast.Module, by *ast.Compiler) (*ast.Compiler, error) {
	if by.Compile(modules); by.Failed() {
		return nil, fmt.Errorf("compile policies: %w", errors.Join(by.Errors))
	}
	return by, nil
}

// capabilities leave out whatever could answer differently tomorrow or look
// outside the input.
var capabilities = sync.OnceValue(func() *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion()
	c.AllowNet = []string{}
	c.Builtins = slices.DeleteFunc(c.Builtins, func(b *ast.Builtin) bool {
		return b.Nondeterministic || b.Name == "opa.runtime" || strings.HasPrefix(b.Name, "net.") ||
			strings.HasPrefix(b.Name, "rand.") || b.Name == "http.send" || b.Name == "time.now_ns"
	})
	return c
})
