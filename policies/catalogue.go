package policies

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/meshgen/meshgen/internal/diag"
)

// Policy is what a policy's METADATA says about it.
type Policy struct {
	ID          string        `json:"id"`              // subject/policy, with dashes
	Title       string        `json:"title"`           // what holds when nothing is denied
	Description string        `json:"description"`     // why it matters
	Severity    diag.Severity `json:"severity"`        // of its findings
	Remedy      string        `json:"remedy"`          // what to do
	Source      string        `json:"source"`          // the incident or the public report that earned it
	Needs       []string      `json:"needs,omitempty"` // "plan" when it judges against the plan
}

// List returns every policy, sorted by id.
func List() ([]Policy, error) {
	e, err := compiled()
	if err != nil {
		return nil, err
	}
	var all []Policy
	for _, id := range slices.Sorted(maps.Keys(e.policies)) {
		all = append(all, e.policies[id])
	}
	return all, nil
}

func (policy Policy) needsPlan() bool { return slices.Contains(policy.Needs, "plan") }

// identifier is a policy's id from the two parts of its package's name.
func identifier(subject, policy string) string {
	return strings.ReplaceAll(subject+"/"+policy, "_", "-")
}

// catalogue reads the METADATA of every module outside lib.
func catalogue(modules map[string]*ast.Module) (map[string]Policy, error) {
	all := map[string]Policy{}
	for file, m := range modules {
		if path.Dir(file) == "lib" {
			continue
		}
		p, err := policyOf(file, m)
		if err != nil {
			return nil, fmt.Errorf("METADATA of %s: %w", file, err)
		}
		all[p.ID] = p
	}
	return all, nil
}

func policyOf(file string, m *ast.Module) (Policy, error) {
	name := strings.TrimSuffix(file, ".rego")
	if got, want := m.Package.Path.String(), "data.meshgen."+strings.ReplaceAll(name, "/", "."); got != want {
		return Policy{}, fmt.Errorf("package is %s, want %s as in its path", got, want)
	}
	at := slices.IndexFunc(m.Annotations, func(a *ast.Annotations) bool { return a.Scope == "package" })
	if at < 0 {
		return Policy{}, fmt.Errorf("no block of scope package")
	}
	a := m.Annotations[at]
	p := Policy{ID: identifier(path.Dir(name), path.Base(name)), Title: a.Title, Description: a.Description}
	p.Remedy, _ = a.Custom["remedy"].(string)
	p.Source, _ = a.Custom["source"].(string)
	severity, _ := a.Custom["severity"].(string)
	p.Severity = diag.Severity(severity)
	needs, _ := a.Custom["needs"].([]any)
	for _, n := range needs {
		p.Needs = append(p.Needs, fmt.Sprint(n))
	}
	return p, p.complete()
}

// complete reports what a policy's METADATA lacks.
func (policy Policy) complete() error {
	for field, value := range map[string]string{
		"title": policy.Title, "description": policy.Description, "remedy": policy.Remedy, "source": policy.Source,
	} {
		if value == "" {
			return fmt.Errorf("no %s", field)
		}
	}
	if policy.Severity != diag.Error && policy.Severity != diag.Warning {
		return fmt.Errorf("severity is %q, want error or warning", policy.Severity)
	}
	return nil
}
