package manifests

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/plan"
)

// Guard is a key of ours that has no effect in some charts, and is written
// because it has one in others.
type Guard struct{ Path, Charts, Why string }

// Guards are the keys that need no effect. The chart must still have each among
// its own values, so a misspelt one is found.
func Guards() []Guard {
	return []Guard{{
		Path: "global.defaultPodDisruptionBudget.enabled", Charts: "up to 1.27",
		Why: "they render their own budget whatever scales istiod; later ones only beside their own HPA or replicas",
	}}
}

func isGuard(l leaf) bool {
	return slices.ContainsFunc(Guards(), func(g Guard) bool { return g.Path == l.String() })
}

// prove renders the chart with the cluster's values, and judges that each of
// ours has an effect on what is rendered.
func (b *Builder) prove(in Input) ([]Object, diag.List, error) {
	path := in.Plan.Cluster + "/istiod/" + valuesFile
	file, ok := in.Tree.Get(path)
	if !ok {
		return nil, nil, fmt.Errorf("%s was not generated", path)
	}
	ours, err := chartutil.ReadValues(file.Data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	users, found := readUsers(in.Values)
	if found.HasErrors() {
		return nil, found, nil
	}
	if found = b.programs(in, users, ours); len(found) > 0 {
		return nil, found, nil
	}
	found = append(found, b.judgeMinor(in)...)
	texts, err := b.render(in.Plan.Istiod, merge(users, ours))
	if err != nil {
		return nil, append(found, b.refusal(in, users, ours, err)), nil
	}
	objects, err := objectsOf(texts, b.decode)
	if err != nil {
		return nil, append(found, b.refusal(in, users, ours, err)), nil
	}
	rendered := make([]Object, 0, len(objects))
	for _, object := range objects {
		rendered = append(rendered, Object{File: path, Object: object})
	}
	if len(in.Values) > 0 && !hasDeployment(in, rendered) {
		return rendered, found, nil // one finding says so, not one for each key
	}
	dead, err := b.dead(in, proof{b, in.Plan.Istiod, ours, users, &sync.Map{}}, texts)
	if err != nil {
		return nil, nil, err
	}
	for _, key := range dead {
		found = append(found, b.finding(in, key, path))
	}
	return rendered, found.Sorted(), nil
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

// refusal is a chart that stops at the values: at the user's, when it takes ours
// alone, and then at which of the keys.
func (b *Builder) refusal(in Input, users, ours map[string]any, err error) diag.Finding {
	f := diag.Finding{
		Severity: diag.Error, ID: "manifests/chart-fails", Pos: in.Pos("spec.istiod"), Subject: "spec.istiod",
		Message: fmt.Sprintf("the istiod chart cannot be rendered with these values: %s", firstLine(err.Error())),
		Hint:    "the chart given with --chart may be of a version that needs other values",
	}
	p := proof{b, in.Plan.Istiod, ours, nil, &sync.Map{}}
	if _, alone := p.text(ours); alone != nil {
		return f
	}
	f.Pos, f.Subject = in.Pos("spec.istiod.values"), "spec.istiod.values"
	f.Message = fmt.Sprintf("the istiod chart refuses what is in %s: %s", strings.Join(names(in.Values), ", "), firstLine(err.Error()))
	f.Hint = "render the chart with these files alone to see which key it stops at: helm template -f " + strings.Join(names(in.Values), " -f ")
	for _, key := range slices.Sorted(maps.Keys(users)) {
		p.users = maps.Clone(users)
		delete(p.users, key)
		if _, err := p.text(ours); err != nil {
			continue
		}
		if at, ok := locate(in.Values, []any{key}, 1); ok {
			f.Pos, f.Subject = at.pos, key
			f.Hint = fmt.Sprintf("without the key %s in %s it renders: remove or correct it", key, at.pos.File)
		}
		break
	}
	return f
}

// deadKey is a key of ours without effect; overridden when it has one as soon as
// the user's values files are left out.
type deadKey struct {
	leaf       leaf
	overridden bool
}

func (b *Builder) finding(in Input, k deadKey, path string) diag.Finding {
	if k.overridden {
		return overridden(in, k.leaf)
	}
	return diag.Finding{
		Severity: diag.Error, ID: "manifests/no-effect", Pos: diag.Pos{File: path}, Subject: k.leaf.String(),
		Message: fmt.Sprintf("the value %s has no effect on anything that the istiod chart renders: the chart ignores keys that it does not know", k.leaf),
		Hint:    "the chart may be of a version that calls it otherwise: prove against the chart that the cluster installs with --chart, or report it" + b.nearest(k.leaf),
	}
}

// nearest names the key of the chart that a misspelt one most likely meant.
func (b *Builder) nearest(l leaf) string {
	for i, step := range l.path {
		value, _ := get(b.defaults(), l.path[:i])
		known, _ := value.(map[string]any)
		key, _ := step.(string)
		if _, ok := known[key]; ok {
			continue
		}
		if name, ok := diag.Nearest(key, slices.Sorted(maps.Keys(known))); ok {
			return fmt.Sprintf("; the chart knows %s", dotted(append(slices.Clone(l.path[:i]), name)))
		}
		break
	}
	return ""
}

// overridden is shown where the user's files set the same thing. Lists replace
// one another whole, so all leaves of a list of ours fall to one key.
func overridden(in Input, l leaf) diag.Finding {
	f := diag.Finding{
		Severity: diag.Error, ID: "manifests/overridden", Pos: in.Pos("spec.istiod.values"), Subject: l.String(),
		Message: fmt.Sprintf("the computed value %s has no effect beside %s", l, strings.Join(names(in.Values), ", ")),
		Hint:    "remove from these files what sets the same thing or what turns off what it is for",
	}
	field := l.path
	if i := slices.IndexFunc(field, func(step any) bool { _, isIndex := step.(int); return isIndex }); i >= 0 {
		field = field[:i]
	}
	legacy := append([]any{"pilot"}, field...)
	if at, ok := locate(in.Values, legacy, 2); ok {
		f.Pos, f.Subject = at.pos, dotted(at.path[1:])
		f.Message = fmt.Sprintf("%s overrides the computed value %s: the chart merges its legacy pilot: block over the top level last", dotted(at.path), f.Subject)
		f.Hint = "remove the key from " + at.pos.File
	}
	return f
}

// dead are our keys without effect, sorted by path. The answer is remembered for
// every cluster with the same keys over the same values of the user: what it
// depends on of our values is which there are, and which of them are off.
func (b *Builder) dead(in Input, p proof, texts map[string]string) ([]deadKey, error) {
	key := []string{p.istiod.KubernetesVersion, p.istiod.Namespace, p.istiod.Deployment}
	for _, l := range leavesOf(p.ours, nil) {
		key = append(key, fmt.Sprintf("%s %T %v", l, l.value, isOff(l)))
	}
	for _, file := range in.Values {
		key = append(key, digest(string(file.Data)))
	}
	return b.proofs.Of(digest(key...), func() ([]deadKey, error) {
		base, err := p.judged(texts, p.decode)
		if err != nil {
			return nil, err
		}
		return p.run(base), nil
	})
}

// isOff reports a value that templates take for absent.
func isOff(l leaf) bool { return l.value == nil || reflect.ValueOf(l.value).IsZero() }

// proof asks which of our leaves have an effect over the user's values.
type proof struct {
	*Builder
	istiod plan.Istiod
	ours   map[string]any
	users  map[string]any
	parts  *sync.Map // what is judged of a template's text, by the text: most stay as they are
}

// run tells the keys that the chart does not know from those that the user's
// values keep from working. A switch of ours that stays off whatever it says,
// for the user's values have turned off the same, is as wanted.
func (p proof) run(base string) []deadKey {
	asked := slices.DeleteFunc(leavesOf(p.ours, nil), func(l leaf) bool { return isGuard(l) && p.knows(l) })
	silent := p.silent(base, asked)
	if len(silent) == 0 {
		return nil
	}
	unknown := silent
	alone := p
	alone.users = nil
	if base, err := alone.text(p.ours); err == nil {
		unknown = alone.silent(base, silent)
	}
	var dead []deadKey
	for _, l := range silent {
		misspelt := slices.ContainsFunc(unknown, func(o leaf) bool { return o.String() == l.String() })
		if misspelt || !isOff(l) || !p.stands(l) {
			dead = append(dead, deadKey{l, !misspelt})
		}
	}
	return dead
}

// knows reports whether the chart's own values have the key.
func (p proof) knows(l leaf) bool {
	_, ok := get(p.defaults(), l.path)
	return ok
}

// stands reports whether both our value and another at the leaf reach the
// templates, past all that the chart merges over it.
func (p proof) stands(l leaf) bool {
	for _, ours := range []map[string]any{p.ours, p.with(l, 0)} {
		settled, err := p.settled(p.istiod, merge(p.users, ours))
		if err != nil {
			return false
		}
		want, _ := get(ours, l.path)
		if got, ok := get(settled, l.path); !ok || got != want {
			return false
		}
	}
	return true
}

// silent are the leaves that have no effect over the user's values: one render
// with a sentinel in every string and number, one flip for each boolean. A leaf
// whose sentinel does not show is tried alone, for the chart may compute with it.
func (p proof) silent(base string, leaves []leaf) []leaf {
	marked := deepCopy(p.ours)
	for i, l := range leaves {
		if _, isBool := l.value.(bool); !isBool {
			set(marked, l.path, other(l.value, i))
		}
	}
	text, err := p.text(marked)
	if err != nil {
		text = "" // the chart does not take these sentinels: each is tried alone
	}
	effective := make([]bool, len(leaves))
	var group sync.WaitGroup
	for i, l := range leaves {
		if _, isBool := l.value.(bool); !isBool {
			mark := fmt.Sprint(other(l.value, i))
			effective[i] = strings.Contains(text, mark) && !strings.Contains(base, mark)
		}
		if !effective[i] {
			group.Go(func() { effective[i] = p.changes(base, l, i) })
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
func (p proof) changes(base string, l leaf, i int) bool {
	text, err := p.text(p.with(l, i))
	return err != nil || text != base
}

// with is our values with another one at the leaf.
func (p proof) with(l leaf, i int) map[string]any {
	changed := deepCopy(p.ours)
	set(changed, l.path, other(l.value, i))
	return changed
}

// text is what is judged of the render with these values over the user's.
func (p proof) text(ours map[string]any) (string, error) {
	texts, err := execute(p.chart, p.istiod, merge(p.users, ours))
	if err != nil {
		return "", err
	}
	return p.judged(texts, decodeText)
}

func (p proof) judged(texts map[string]string, decode func(text string) ([]map[string]any, error)) (string, error) {
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		known, ok := p.parts.Load(texts[name])
		if !ok {
			objects, err := objectsOf(map[string]string{name: texts[name]}, decode)
			if err != nil {
				return "", err
			}
			if known, err = judged(objects); err != nil {
				return "", err
			}
			p.parts.Store(texts[name], known)
		}
		all.WriteString(known.(string))
	}
	return all.String(), nil
}

// other is a value of the same kind that stands nowhere else: a flip, or a
// sentinel. Helm's numbers are floats, and templates print those below 10⁶ as
// they are.
func other(value any, i int) any {
	switch v := value.(type) {
	case bool:
		return !v
	case string:
		return "meshgen-" + strconv.Itoa(1000+i) + "-sentinel"
	}
	return float64(730000 + i)
}
