package manifests

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/diag"
)

// places are objects as "line kind namespace/name".
func places(objects []Object) []string {
	out := []string{}
	for _, o := range objects {
		out = append(out, fmt.Sprintf("%d %s %s/%s", o.Line, o.kind(), o.text("metadata", "namespace"), o.name()))
	}
	return out
}

const (
	service   = "apiVersion: v1\nkind: Service\nmetadata: {name: cart, namespace: shop}\n"
	configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
)

func TestReadFindsEveryObjectAndItsLine(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"one":                            {service, []string{"1 Service shop/cart"}},
		"one below a comment":            {"# ours\n\n" + service, []string{"3 Service shop/cart"}},
		"two":                            {service + "---\n" + configMap, []string{"1 Service shop/cart", "5 ConfigMap /settings"}},
		"two, one below a comment":       {service + "---\n# Source: x\n" + configMap, []string{"1 Service shop/cart", "6 ConfigMap /settings"}},
		"empty documents":                {"---\n---\n# nothing\n---\n" + service + "---\n", []string{"5 Service shop/cart"}},
		"nothing at all":                 {"", []string{}},
		"JSON with tabs":                 {"{\n\t\"apiVersion\": \"v1\", \"kind\": \"Pod\",\n\t\"metadata\": {\"name\": \"x\"}\n}\n", []string{"1 Pod /x"}},
		"JSON, one behind another":       {"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"x\"}}\n\n{\"apiVersion\":\"v1\",\n\"kind\":\"Pod\",\"metadata\":{\"name\":\"y\"}}\n{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"z\"}}", []string{"1 Pod /x", "3 Pod /y", "5 Pod /z"}},
		"YAML that begins as JSON does":  {"{apiVersion: v1, kind: Pod, metadata: {name: x}}\n", []string{"1 Pod /x"}},
		"a list":                         {"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: x\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: z\n", []string{"4 Pod /x", "8 Pod /z"}},
		"a list below another document":  {configMap + "---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: x}}\n", []string{"1 ConfigMap /settings", "8 Pod /x"}},
		"a list of one kind":             {"apiVersion: apps/v1\nkind: DeploymentList\nitems:\n- metadata: {name: x}\n", []string{"4 Deployment /x"}},
		"a list in a list":               {"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - {apiVersion: v1, kind: Pod, metadata: {name: x}}\n", []string{"4 Pod /x"}},
		"an empty list":                  {"apiVersion: v1\nkind: List\nitems: []\n", []string{}},
		"an object that is to be named":  {"apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: once-}\n", []string{"1 Job /"}},
		"lines of another system":        {strings.ReplaceAll(service+"---\n"+configMap, "\n", "\r\n"), []string{"1 Service shop/cart", "5 ConfigMap /settings"}},
		"a marker within a block scalar": {configMap + "data:\n  x: |\n    ---\n    y\n", []string{"1 ConfigMap /settings"}},
	} {
		objects, strays, broken := Read("x.yaml", []byte(c.text))
		if diff := cmp.Diff(c.want, places(objects)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if len(strays) > 0 || len(broken) > 0 {
			t.Errorf("%s: strays %v, broken %v", name, strays, broken)
		}
	}
}

func TestReadSaysWhatIsNoObjectAndWhatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"no apiVersion":        {"replicaCount: 1\n", "1 manifests/not-an-object it has no apiVersion"},
		"no kind":              {service + "---\n\napiVersion: v2\nname: chart\n", "6 manifests/not-an-object it has no kind"},
		"no name":              {"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n", "1 manifests/not-an-object it has no metadata.name"},
		"a name that is none":  {"apiVersion: v1\nkind: Pod\nmetadata: {name: 1}\n", "1 manifests/not-an-object it has no metadata.name"},
		"a list of patches":    {"- op: add\n  path: /spec\n", "1 manifests/not-an-object it has no apiVersion"},
		"words":                {"Error: chart not found\n", "1 manifests/not-an-object it has no apiVersion"},
		"an item of a list":    {"apiVersion: v1\nkind: List\nitems:\n- {kind: Pod}\n", "4 manifests/not-an-object it has no apiVersion"},
		"a template":           {service + "---\n{{- if .Values.x }}\nkind: Pod\n{{- end }}\n", "5 manifests/not-yaml the document is a template"},
		"bad indentation":      {service + "---\nkind: Pod\n  apiVersion: v1\n", "6 manifests/not-yaml mapping values are not allowed"},
		"a key that is double": {"apiVersion: v1\nkind: Pod\nkind: Service\nmetadata: {name: x}\n", "3 manifests/not-yaml key \"kind\" already set"},
		"JSON that ends early": {"{\"apiVersion\": \"v1\"", "1 manifests/not-yaml"},
	} {
		_, strays, broken := Read("x.yaml", []byte(c.text))
		found := append(strays, broken...)
		line, id, words := split(t, c.want)
		if len(found) != 1 || found[0].Line != line || found[0].ID != id || !strings.Contains(found[0].Message, words) {
			t.Errorf("%s: found %v, want %s", name, found, c.want)
		}
	}
}

func split(t *testing.T, want string) (line int, id, words string) {
	t.Helper()
	if _, err := fmt.Sscanf(want, "%d %s", &line, &id); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(want, " ")
	_, words, _ = strings.Cut(rest, " ")
	return line, id, words
}

func TestAFileIsBounded(t *testing.T) {
	_, _, broken, err := ReadFrom("x.yaml", strings.NewReader(strings.Repeat("# x\n", maxBytes/4+1)))
	if err != nil {
		t.Fatal(err)
	}
	if len(broken) != 1 || broken[0].ID != "manifests/too-large" {
		t.Errorf("found %v, want manifests/too-large", broken)
	}
}

func TestDuplicatesAreOfOneGroupKindNamespaceAndName(t *testing.T) {
	at := func(line int, apiVersion, kind, namespace, name string) Object {
		return Object{File: "x.yaml", Line: line, Object: map[string]any{
			"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"namespace": namespace, "name": name},
		}}
	}
	sound := []Object{
		at(1, "apps/v1", "Deployment", "shop", "cart"), at(2, "apps/v1", "StatefulSet", "shop", "cart"),
		at(3, "apps/v1", "Deployment", "web", "cart"), at(4, "apps/v1", "Deployment", "shop", "auth"),
		at(5, "serving.knative.dev/v1", "Deployment", "shop", "cart"),
		{Object: map[string]any{"kind": "Job", "metadata": map[string]any{"generateName": "x-"}}},
		{Object: map[string]any{"kind": "Job", "metadata": map[string]any{"generateName": "x-"}}},
	}
	if found := Duplicates(sound); len(found) > 0 {
		t.Errorf("different objects: %v", found)
	}
	found := Duplicates(append(sound, at(9, "apps/v1beta1", "Deployment", "shop", "cart")))
	if len(found) != 1 || found[0].Line != 9 || !strings.Contains(found[0].Message, "x.yaml:1:1") {
		t.Errorf("found %v, want line 9 to name line 1", found)
	}
}

// Whatever is read, nothing panics, and what is found stands within the text.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		service + "---\n" + configMap, "{}", "{\"a\":1}\n{\"b\":", "---", "--- {a: 1}\n---\n", "- 1\n", "\t", "a: &x [*x]\r*a", "\ufeff{",
		"kind: List\nitems:\n- 1\n- {kind: List, items: [{}]}\n", "a: &x [*x]\n", "apiVersion: v1\nkind: PodList\nitems: [{}, null]\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, strays, broken := Read("x.yaml", data)
		lines := strings.Count(string(data), "\n") + 1
		for _, o := range objects {
			if o.Line < 1 || o.Line > lines || o.lacks() != "" {
				t.Errorf("object at line %d of %d lacks %q", o.Line, lines, o.lacks())
			}
		}
		for _, found := range append(strays, broken...) {
			if found.Line < 1 || found.Line > lines {
				t.Errorf("%s at line %d of %d", found.ID, found.Line, lines)
			}
		}
	})
}

// tree writes files below a folder of the test's own and goes there.
func tree(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCollectLeavesOutWhatHasToBeBuilt(t *testing.T) {
	tree(t, map[string]string{
		"in/app/kustomization.yaml": "resources: [service.yaml]\npatches: [{path: patch.yaml}, {patch: \"a: 1\\nb: 2\"}]\n" +
			"patchesStrategicMerge: [../shared/older.yaml]\nconfigurations: [names.yaml]\n",
		"in/app/service.yaml":            service,
		"in/app/patch.yaml":              service,
		"in/app/names.yaml":              "nameReference: []\n",
		"in/shared/older.yaml":           service,
		"in/app/notes.txt":               service,
		"in/chart/Chart.yaml":            "apiVersion: v2\nname: chart\n",
		"in/chart/templates/x.yaml":      "{{ .Values.x }}\n",
		"in/values.yaml":                 "replicaCount: 1\n",
		"in/z/more.json":                 `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}`,
		"in/z/settings.yml":              configMap,
		"elsewhere/pod.yaml":             "apiVersion: v1\nkind: Pod\nmetadata: {name: linked}\n",
		"in/component/kustomization.yml": "kind: Component\npatches: [{path: deployment.yaml}]\n",
		"in/component/deployment.yaml":   "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n",
	})
	for link, to := range map[string]string{"in/linked.yaml": "../elsewhere/pod.yaml", "in/folder": "../elsewhere"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Collect([]string{"in", "in/app/service.yaml"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Findings) > 0 {
		t.Errorf("found %v", c.Findings)
	}
	var files []string
	for _, o := range c.Objects {
		files = append(files, o.File)
	}
	if diff := cmp.Diff([]string{"in/app/service.yaml", "in/z/more.json", "in/z/settings.yml"}, files); diff != "" {
		t.Errorf("objects of (-want +got):\n%s", diff)
	}
	got := []int{c.Files, c.Kustomizations, c.Patches, c.Charts, c.Strays}
	if want := []int{3, 2, 4, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("files, kustomizations, patches, charts, strays are %v, want %v", got, want)
	}
}

func TestCollectTakesWhatWasNamedAtItsWord(t *testing.T) {
	tree(t, map[string]string{
		"values.yaml": "replicaCount: 1\n", "service.txt": service, "in/kustomization.yaml": "patches: [\n", "in/service.yaml": service,
	})
	for name, c := range map[string]struct {
		paths []string
		in    string
		want  []string
	}{
		"a file of any name":          {[]string{"service.txt"}, "", nil},
		"values":                      {[]string{"values.yaml"}, "", []string{"values.yaml:1 manifests/not-an-object"}},
		"the standard input":          {[]string{"-"}, service + "---\nx: 1\n", []string{"<stdin>:5 manifests/not-an-object"}},
		"a file beside its copy":      {[]string{"service.txt", "-"}, service, []string{"<stdin>:1 manifests/duplicate-object"}},
		"one file, twice":             {[]string{"service.txt", "./service.txt"}, "", nil},
		"a kustomization in pieces":   {[]string{"in"}, "", []string{"in/kustomization.yaml:1 manifests/not-yaml"}},
		"the standard input, nothing": {[]string{"-"}, "", nil},
	} {
		got, err := Collect(c.paths, strings.NewReader(c.in))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, ids(got.Findings)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, err := Collect([]string{"none.yaml"}, nil); !os.IsNotExist(err) {
		t.Errorf("a path that is not there: %v, want %v", err, fs.ErrNotExist)
	}
}

func ids(l diag.List) []string {
	var out []string
	for _, f := range l {
		out = append(out, fmt.Sprintf("%s:%d %s", f.File, f.Line, f.ID))
	}
	return out
}

func TestCollectJudgesFoldersApartWhereAnObjectStandsInSeveral(t *testing.T) {
	other := strings.Replace(service, "cart", "other", 1)
	tree(t, map[string]string{
		"in/east/a/service.yaml": service, "in/east/b/other.yaml": other, "in/west/service.yaml": service, "in/shared.yaml": other,
	})
	c, err := Collect([]string{"in"}, nil)
	if err != nil || len(c.Findings) > 0 {
		t.Fatal(c.Findings, err)
	}
	var got [][]string
	for _, part := range c.Parts {
		var files []string
		for _, o := range part {
			files = append(files, o.File)
		}
		got = append(got, files)
	}
	want := [][]string{{"in/shared.yaml"}, {"in/east/a/service.yaml", "in/east/b/other.yaml"}, {"in/west/service.yaml"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
