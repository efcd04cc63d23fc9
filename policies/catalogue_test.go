package policies

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/internal/plan"
)

var update = flag.Bool("update", false, "write the golden files")

func TestListIsSortedAndComplete(t *testing.T) {
	all := mustList(t)
	if !slices.IsSortedFunc(all, func(a, b Policy) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("not sorted by id")
	}
	severities := map[diag.Severity]int{}
	for _, p := range all {
		severities[p.Severity]++
		if err := p.complete(); err != nil {
			t.Errorf("%s: %v", p.ID, err)
		}
		if strings.ContainsAny(p.ID, "_ ") || strings.Count(p.ID, "/") != 1 {
			t.Errorf("%s: not subject/policy with dashes", p.ID)
		}
	}
	if severities[diag.Error] < 10 {
		t.Errorf("%d policies of severity error, want at least 10", severities[diag.Error])
	}
}

func TestMetadataThatLacksSomethingIsAnError(t *testing.T) {
	const sound = "# METADATA\n# scope: package\n# title: T\n# description: D\n# custom:\n" +
		"#   severity: error\n#   remedy: R\n#   source: S\npackage meshgen.keda.some\n"
	for name, source := range map[string]string{
		"no block":         "package meshgen.keda.some\n",
		"no remedy":        strings.Replace(sound, "#   remedy: R\n", "", 1),
		"no source":        strings.Replace(sound, "#   source: S\n", "", 1),
		"another severity": strings.Replace(sound, "error", "fatal", 1),
		"another package":  strings.Replace(sound, "keda", "pdb", 1),
	} {
		m, err := ast.ParseModuleWithOpts("keda/some.rego", source, ast.ParserOptions{ProcessAnnotation: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := policyOf("keda/some.rego", m); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A policy that reads the plan and does not say so would deny, or pass,
// manifests that have none.
func TestPoliciesThatReadThePlanSaySo(t *testing.T) {
	modules, err := parseModules(files, func(p string) bool { return !strings.HasSuffix(p, "_test.rego") })
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	for _, p := range mustList(t) {
		said[p.ID] = p.needsPlan()
	}
	for file, m := range modules {
		reads := false
		ast.WalkRefs(m, func(r ast.Ref) bool {
			reads = reads || strings.HasPrefix(r.String(), "input.plan")
			return false
		})
		name := strings.TrimSuffix(file, ".rego")
		if id := identifier(path.Dir(name), path.Base(name)); reads != said[id] {
			t.Errorf("%s: reads the plan: %v, says that it needs it: %v", file, reads, said[id])
		}
	}
}

func TestPoliciesThatReadWhatIsNotInThePlanDoNotCompile(t *testing.T) {
	if _, err := compile(policyWith("v := input.plan.istiod.namspace"), strict(t)); err == nil || !strings.Contains(err.Error(), "undefined ref: input.plan.istiod.namspace") {
		t.Errorf("got %v", err)
	}
}

// The product leaves out what takes long and is the same for any input.
func TestPoliciesPassEveryCheckOfTheCompiler(t *testing.T) {
	modules, err := parseModules(files, func(p string) bool { return !strings.HasSuffix(p, "_test.rego") })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compile(modules, strict(t)); err != nil {
		t.Error(err)
	}
}

// strict checks types against the plan's schema too: a policy that reads a field of
// the plan that is not there does not compile. Objects have any field, which the
// type checker only grants to what has no schema.
func strict(t *testing.T) *ast.Compiler {
	t.Helper()
	schema, err := inputSchema()
	if err != nil {
		t.Fatal(err)
	}
	fields, _ := schema["properties"].(map[string]any)
	schemas := ast.NewSchemaSet()
	schemas.Put(ast.SchemaRootRef, map[string]any{
		"type": "object", "properties": map[string]any{"plan": fields["plan"], "objects": map[string]any{}},
	})
	return newCompiler().WithStrict(true).WithSchemas(schemas)
}

// A policy is judged by its input alone: OPA has these functions, and policies do
// not.
func TestPoliciesThatLookOutsideDoNotCompile(t *testing.T) {
	for function, arguments := range map[string]string{
		"http.send":            `{"method": "get", "url": "http://localhost"}`,
		"net.lookup_ip_addr":   `"localhost"`,
		"json.match_schema":    `{}, {"$ref": "http://localhost/a"}`,
		"json.verify_schema":   `{"$ref": "http://localhost/a"}`,
		"opa.runtime":          "",
		"time.now_ns":          "",
		"rand.intn":            `"x", 2`,
		"uuid.rfc4122":         `"x"`,
		"io.jwt.decode_verify": `"x", {}`,
	} {
		policy := policyWith("v := " + function + "(" + arguments + ")")
		if everything := ast.NewCompiler(); !compiles(everything, policy) { // or it would be no function at all
			t.Errorf("%s: OPA itself does not compile it: %v", function, everything.Errors)
		}
		if _, err := compile(policy, strict(t)); err == nil || !strings.Contains(err.Error(), "undefined function "+function) {
			t.Errorf("%s: got %v", function, err)
		}
	}
}

func policyWith(condition string) map[string]*ast.Module {
	text := "package meshgen.keda.some\ndeny contains v if " + condition
	return map[string]*ast.Module{"some.rego": ast.MustParseModuleWithOpts(text, ast.ParserOptions{RegoVersion: ast.RegoV1})}
}

func compiles(c *ast.Compiler, modules map[string]*ast.Module) bool {
	c.Compile(modules)
	return !c.Failed()
}

func TestThePlanAsPoliciesReadItIsFixed(t *testing.T) {
	doc, err := document(soundPlan(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	e := json.NewEncoder(&got)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(doc); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/input.golden.json"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("policy input (-want +got):\n%s", diff)
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, carts := range []int{0, 250, 1000} {
		p, objects := soundPlan(), soundObjects(b)
		for i := range carts {
			objects = append(objects, anotherCart(b, p, fmt.Sprintf("shop-%d", i%40), fmt.Sprintf("cart-%d", i))...)
		}
		e, err := compiled()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%d objects", len(objects)), func(b *testing.B) {
			for b.Loop() {
				doc, err := document(p, objects)
				if err != nil {
					b.Fatal(err)
				}
				if found, err := e.judgeDocument(context.Background(), doc, true); err != nil || len(found) > 0 {
					b.Fatal(found, err)
				}
			}
		})
		b.Run(fmt.Sprintf("%d objects/judged before", len(objects)), func(b *testing.B) {
			for b.Loop() {
				if found, err := Check(context.Background(), p, objects); err != nil || len(found) > 0 {
					b.Fatal(found, err)
				}
			}
		})
	}
}

// anotherCart plans another cart, and is its objects: those of the shop under
// other names.
func anotherCart(b *testing.B, p *plan.Plan, namespace, name string) []manifests.Object {
	labels := map[string]string{"app": name}
	cart := soundWorkloads()[1]
	cart.Namespace, cart.Name, cart.Labels, cart.Scaling.Name, cart.Scaling.HPA = namespace, name, labels, name, name
	p.Workloads = append(p.Workloads, cart)
	p.Routes = append(p.Routes, plan.Route{Namespace: namespace, Name: name, TrafficDistribution: "PreferClose"})
	p.Scopes = append(p.Scopes, plan.Scope{Namespace: namespace, Name: name, Selector: labels, Hosts: cartHosts(), Rollout: "live"})
	rename := strings.NewReplacer("name: cart", "name: "+name, "app: cart", "app: "+name, "namespace: shop", "namespace: "+namespace)
	data, err := os.ReadFile("testdata/clean/shop.yaml")
	if err != nil {
		b.Fatal(err)
	}
	var objects []manifests.Object
	for _, doc := range strings.Split(rename.Replace(string(data)), "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(doc), &object); err != nil {
			b.Fatal(err)
		}
		if o := (manifests.Object{File: name + ".yaml", Object: object}); nameOf(o) == name {
			objects = append(objects, o)
		}
	}
	return objects
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, err := newEngine(); err != nil {
			b.Fatal(err)
		}
	}
}
