package manifests

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/plan"
)

// guards are keys of ours that have an effect only in charts of other versions,
// or only together with others. They must still be keys of the chart.
var guards = map[string]string{
	"global.defaultPodDisruptionBudget.enabled": "charts up to Istio 1.27 render their own budget whatever scales istiod",
}

// leaf is a value of ours that is neither a map nor a list, by its path.
type leaf struct {
	path  []any // string keys and int indices
	value any
}

func (l leaf) String() string {
	var s strings.Builder
	for _, step := range l.path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&s, "[%d]", step)
		case string:
			s.WriteString("." + step)
		}
	}
	return strings.TrimPrefix(s.String(), ".")
}

// prove renders the chart with the cluster's values, and judges that each of
// ours has an effect on what is rendered.
func (b *Builder) prove(in Input) ([]Object, diag.List, error) {
	path := in.Plan.Cluster + "/istiod/values.yaml"
	file, ok := in.Tree.Get(path)
	if !ok {
		return nil, nil, fmt.Errorf("%s was not generated", path)
	}
	ours, err := decodeAll(file.Data)
	if err != nil || len(ours) != 1 {
		return nil, nil, fmt.Errorf("%s is not one YAML map: %w", path, err)
	}
	users, found := mergeUsers(in.Values)
	if found.HasErrors() {
		return nil, found, nil
	}
	found = append(found, b.judgeMinor(in)...)
	objects, err := b.render(in.Plan.Istiod, merge(users, ours[0]))
	if err != nil {
		return nil, append(found, renderFinding(in, err)), nil
	}
	base, err := judged(objects)
	if err != nil {
		return nil, nil, err
	}
	dead, err := b.dead(in, users, ours[0], base)
	if err != nil {
		return nil, nil, err
	}
	for _, key := range dead {
		found = append(found, key.finding(in, path))
	}
	rendered := make([]Object, 0, len(objects))
	for _, object := range objects {
		rendered = append(rendered, Object{File: path, Object: object})
	}
	return rendered, found, nil
}

func (b *Builder) judgeMinor(in Input) diag.List {
	if b.minor == in.Plan.Istiod.Version {
		return nil
	}
	is := "does not say of which Istio it is"
	if b.minor != "" {
		is = "is of Istio " + b.minor
	}
	return diag.List{{
		Severity: diag.Warning, ID: "manifests/chart-version", Pos: in.Pos("spec.istio.version"), Subject: "spec.istio.version",
		Message: fmt.Sprintf("the istiod chart that the values are proven against %s, the cluster runs %s", is, in.Plan.Istiod.Version),
		Hint:    "give the chart that the cluster installs: --chart PATH, a folder or a .tgz",
	}}
}

func renderFinding(in Input, err error) diag.Finding {
	f := diag.Finding{
		Severity: diag.Error, ID: "manifests/chart-fails", Pos: in.Pos("spec.istiod"), Subject: "spec.istiod",
		Message: fmt.Sprintf("the istiod chart cannot be rendered with these values: %v", firstLine(err.Error())),
		Hint:    "the chart given with --chart may be of a version that needs other values",
	}
	if len(in.Values) > 0 {
		f.Pos, f.Subject = in.Pos("spec.istiod.values"), "spec.istiod.values"
		f.Hint = "render the chart with these files alone to see which key it stops at: helm template -f " + strings.Join(names(in.Values), " -f ")
	}
	return f
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

func names(files []ValuesFile) []string {
	all := make([]string, 0, len(files))
	for _, f := range files {
		all = append(all, f.Name)
	}
	return all
}

// deadKey is a key of ours without effect; overridden when it has one as soon as
// the user's values files are left out.
type deadKey struct {
	leaf       leaf
	overridden bool
}

func (k deadKey) finding(in Input, path string) diag.Finding {
	if !k.overridden {
		return diag.Finding{
			Severity: diag.Error, ID: "manifests/no-effect", Pos: diag.Pos{File: path}, Subject: k.leaf.String(),
			Message: fmt.Sprintf("the value %s has no effect on anything that the istiod chart renders: the chart ignores keys that it does not know", k.leaf),
			Hint:    "the chart may be of a version that calls it otherwise: prove against the chart that the cluster installs with --chart, or report it",
		}
	}
	f := diag.Finding{
		Severity: diag.Error, ID: "manifests/overridden", Pos: in.Pos("spec.istiod.values"), Subject: k.leaf.String(),
		Message: fmt.Sprintf("the value %s has no effect: a values file of yours overrides it", k.leaf),
		Hint:    "the chart merges its legacy pilot: block over the top level last; remove what sets the same thing from " + strings.Join(names(in.Values), ", "),
	}
	legacy := append([]any{"pilot"}, k.leaf.path...)
	for _, file := range in.Values {
		if line, column, ok := locate(file.Data, legacy); ok {
			f.Pos = diag.Pos{File: file.Name, Line: line, Column: column}
			f.Message = fmt.Sprintf("pilot.%s overrides the computed value %s: the chart merges its legacy pilot: block over the top level last", k.leaf, k.leaf)
			f.Hint = "remove the key from " + file.Name
		}
	}
	return f
}

// dead are our keys without effect, sorted by path; the answer is remembered for
// every cluster with the same keys over the same values of the user. base is
// what is judged of the render with our values as they are.
func (b *Builder) dead(in Input, users, ours map[string]any, base string) ([]deadKey, error) {
	leaves := leavesOf(ours, nil)
	key := []string{in.Plan.Istiod.KubernetesVersion, in.Plan.Istiod.Namespace}
	for _, l := range leaves {
		key = append(key, fmt.Sprintf("%s %T", l, l.value))
		if _, isBool := l.value.(bool); isBool {
			key = append(key, fmt.Sprint(l.value))
		}
	}
	for _, file := range in.Values {
		key = append(key, string(file.Data))
	}
	if known, ok := b.proofs.Load(digest(key...)); ok {
		return known.([]deadKey), nil
	}
	p := proof{b, in.Plan.Istiod, leaves, ours}
	dead, err := p.run(users, base)
	if err == nil {
		b.proofs.Store(digest(key...), dead)
	}
	return dead, err
}

// proof asks which of our leaves have an effect.
type proof struct {
	*Builder
	istiod plan.Istiod
	leaves []leaf
	ours   map[string]any
}

func (p proof) run(users map[string]any, base string) ([]deadKey, error) {
	silent := p.silent(users, base, p.leaves)
	silent = slices.DeleteFunc(silent, func(l leaf) bool { return guards[l.String()] != "" && p.known(l) })
	if len(silent) == 0 {
		return nil, nil
	}
	base, err := p.text(p.ours)
	if err != nil {
		return nil, err
	}
	alone := p.silent(nil, base, silent)
	var dead []deadKey
	for _, l := range silent {
		stays := slices.ContainsFunc(alone, func(o leaf) bool { return o.String() == l.String() })
		dead = append(dead, deadKey{l, !stays})
	}
	return dead, nil
}

// known reports whether the chart's own values have the key.
func (p proof) known(l leaf) bool {
	defaults := p.chart.Values
	if wrapped, ok := defaults["_internal_defaults_do_not_set"].(map[string]any); ok {
		defaults = merge(defaults, wrapped)
	}
	var value any = defaults
	for _, step := range l.path {
		m, ok := value.(map[string]any)
		if !ok {
			return false
		}
		if value, ok = m[fmt.Sprint(step)]; !ok {
			return false
		}
	}
	return true
}

// silent are the leaves that have no effect over the user's values: one render
// with a sentinel in every string and number, one flip for each boolean. A leaf
// whose sentinel does not show is tried alone, for the chart may compute with it.
func (p proof) silent(users map[string]any, base string, leaves []leaf) []leaf {
	marked := deepCopy(p.ours)
	for i, l := range leaves {
		if _, isBool := l.value.(bool); !isBool {
			set(marked, l.path, sentinel(l.value, i))
		}
	}
	text, err := p.text(merge(users, marked))
	if err != nil {
		text = "" // the chart does not take these sentinels: each is tried alone
	}
	effective := make([]bool, len(leaves))
	var group sync.WaitGroup
	for i, l := range leaves {
		if _, isBool := l.value.(bool); !isBool {
			mark := fmt.Sprint(sentinel(l.value, i))
			effective[i] = strings.Contains(text, mark) && !strings.Contains(base, mark)
		}
		if !effective[i] {
			group.Go(func() { effective[i] = p.changes(users, base, l, i) })
		}
	}
	group.Wait()
	var silent []leaf
	for i, l := range leaves {
		if !effective[i] {
			silent = append(silent, l)
		}
	}
	return silent
}

// changes reports whether another value at the leaf alone changes the render. A
// value that the chart refuses has an effect.
func (p proof) changes(users map[string]any, base string, l leaf, i int) bool {
	changed := deepCopy(p.ours)
	if b, isBool := l.value.(bool); isBool {
		set(changed, l.path, !b)
	} else {
		set(changed, l.path, sentinel(l.value, i))
	}
	text, err := p.text(merge(users, changed))
	return err != nil || text != base
}

func (p proof) text(values map[string]any) (string, error) {
	objects, err := p.render(p.istiod, values)
	if err != nil {
		return "", err
	}
	return judged(objects)
}

// sentinel is a value of the same kind that stands nowhere else.
func sentinel(value any, i int) any {
	if _, isText := value.(string); isText {
		return "meshgen-sentinel-" + strconv.Itoa(1000+i)
	}
	return 730000 + i
}

func leavesOf(value any, path []any) []leaf {
	var all []leaf
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, leavesOf(v[key], append(slices.Clone(path), key))...)
		}
	case []any:
		for i, item := range v {
			all = append(all, leavesOf(item, append(slices.Clone(path), i))...)
		}
	default:
		all = append(all, leaf{path, value})
	}
	return all
}

func set(values any, path []any, to any) {
	for i, step := range path {
		last := i == len(path)-1
		switch v := values.(type) {
		case map[string]any:
			if last {
				v[step.(string)] = to
			}
			values = v[step.(string)]
		case []any:
			if last {
				v[step.(int)] = to
			}
			values = v[step.(int)]
		}
	}
}

// mergeUsers reads the user's files and merges them in their order.
func mergeUsers(files []ValuesFile) (map[string]any, diag.List) {
	merged := map[string]any{}
	var found diag.List
	for _, file := range files {
		docs, err := decodeAll(file.Data)
		if err == nil && len(docs) > 1 {
			err = fmt.Errorf("it has %d documents", len(docs))
		}
		if err != nil {
			found = append(found, diag.Finding{
				Severity: diag.Error, ID: "manifests/values-invalid", Pos: diag.Pos{File: file.Name, Line: 1, Column: 1}, Subject: file.Name,
				Message: fmt.Sprintf("Helm values file %s is not one YAML map: %s", file.Name, firstLine(err.Error())),
				Hint:    "helm would refuse it too: helm template -f " + file.Name,
			})
			continue
		}
		for _, values := range docs {
			merged = merge(merged, values)
		}
	}
	return merged, found
}

// locate is where the key at a path stands in a YAML text.
func locate(data []byte, path []any) (line, column int, ok bool) {
	var doc yaml.Node
	if yaml.Unmarshal(data, &doc) != nil || len(doc.Content) == 0 {
		return 0, 0, false
	}
	n := doc.Content[0]
	for _, step := range path {
		key, value := child(n, step)
		if value == nil {
			return 0, 0, false
		}
		line, column, n = key.Line, key.Column, value
	}
	return line, column, true
}

func child(n *yaml.Node, step any) (key, value *yaml.Node) {
	if i, isIndex := step.(int); isIndex {
		if n.Kind == yaml.SequenceNode && i < len(n.Content) {
			return n.Content[i], n.Content[i]
		}
		return nil, nil
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == step {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}
