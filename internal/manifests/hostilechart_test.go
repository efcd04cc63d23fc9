package manifests

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A chart's templates ask for everything that Helm could give them.
func TestAChartLearnsNothingOfTheMachine(t *testing.T) {
	folder := oldChart(t)
	t.Setenv("SECRET", "of the machine")
	evil := `apiVersion: v1
kind: ConfigMap
metadata: {name: evil}
data:
  dns: {{ getHostByName "localhost" | quote }}
  lookup: {{ lookup "v1" "Secret" "kube-system" "token" | toJson | quote }}
  file: {{ .Files.Get "/etc/hostname" | quote }}
  above: {{ .Files.Get "../../../../../../../../etc/hostname" | quote }}
  glob: {{ (.Files.Glob "/etc/*").AsConfig | quote }}
`
	if err := os.WriteFile(filepath.Join(folder, "templates/evil.yaml"), []byte(evil), 0o644); err != nil {
		t.Fatal(err)
	}
	objects, found, err := open(t, folder).Build(Input{Plan: planned(), Tree: generated(t), Pos: position})
	if err != nil || len(found) > 0 {
		t.Fatalf("findings %v, error %v", found, err)
	}
	var got any
	for _, o := range objects {
		if o.name() == "evil" {
			got = o.Object["data"]
		}
	}
	want := map[string]any{"dns": "", "lookup": "{}", "file": "", "above": "", "glob": "{}"}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAChartHasNoEnvironment(t *testing.T) {
	for _, function := range []string{`env "HOME"`, `expandenv "$HOME"`} {
		folder := oldChart(t)
		if err := os.WriteFile(filepath.Join(folder, "templates/evil.yaml"), []byte("a: {{ "+function+" }}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, found, err := open(t, folder).Build(Input{Plan: planned(), Tree: generated(t), Pos: position})
		if err != nil || len(found) != 1 || found[0].ID != "manifests/chart-fails" || !strings.Contains(found[0].Message, "not defined") {
			t.Errorf("%s: findings %v, error %v", function, found, err)
		}
	}
}

func TestAChartStaysInItsFolder(t *testing.T) {
	for name, c := range map[string]struct{ link, target, want string }{
		"a template that is a link to a file elsewhere": {"templates/evil.yaml", "/etc/hostname", "templates/evil.yaml in it is a link"},
		"a file that is a link":                         {"files/evil", "../../../etc/hostname", "files/evil in it is a link"},
		"a folder that is a link":                       {"charts/evil", "/etc", "charts/evil in it is a link"},
		"a link without an end":                         {"templates/evil", ".", "templates/evil in it is a link"},
		"a link that leads nowhere":                     {"values.schema.json", "none", "values.schema.json in it is a link"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := oldChart(t)
			at := filepath.Join(folder, c.link)
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			os.Remove(at)
			if err := os.Symlink(c.target, at); err != nil {
				t.Fatal(err)
			}
			_, err := Open(folder)
			if want := fmt.Sprintf("read the chart %s: %s, and links are not followed: put the file itself there", folder, c.want); fmt.Sprint(err) != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
	t.Run("the folder itself may be a link, which the user named", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "istiod")
		if err := os.Symlink(oldChart(t), link); err != nil {
			t.Fatal(err)
		}
		open(t, link)
	})
}

func TestAChartIsNotFetched(t *testing.T) {
	for _, path := range []string{"https://example.com/istiod-1.31.0.tgz", "oci://example.com/istiod"} {
		_, err := Open(path)
		if want := "read the chart " + path + ": charts are not fetched: helm pull it, and name the .tgz"; fmt.Sprint(err) != want {
			t.Errorf("got %v", err)
		}
	}
}

// What an archive holds of a link is its name, and a file that it calls by a path
// out of the chart is refused by Helm.
func TestAnArchiveStaysInItself(t *testing.T) {
	for name, c := range map[string]struct {
		header tar.Header
		want   string // empty where it is read, and the file empty
	}{
		"a path above":     {tar.Header{Name: "istiod/../../evil.yaml"}, "parent directory"},
		"an absolute path": {tar.Header{Name: "istiod//etc/evil"}, "absolute paths"},
		"a link":           {tar.Header{Name: "istiod/files/evil", Typeflag: tar.TypeSymlink, Linkname: "/etc/hostname"}, ""},
		"a hard link":      {tar.Header{Name: "istiod/files/evil", Typeflag: tar.TypeLink, Linkname: "/etc/hostname"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := Open(archive(t, c.header))
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v", err)
			}
			if c.want != "" {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range b.chart.Files {
				if f.Name == "files/evil" && len(f.Data) > 0 {
					t.Errorf("read %q", f.Data)
				}
			}
		})
	}
}

func archive(t *testing.T, extra tar.Header) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "istiod.tgz")
	file, err := os.Create(at)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zipped := gzip.NewWriter(file)
	packed := tar.NewWriter(zipped)
	chart := "apiVersion: v2\nname: istiod\nversion: 1.31.0\n"
	for _, header := range []tar.Header{{Name: "istiod/Chart.yaml", Size: int64(len(chart)), Mode: 0o644}, extra} {
		if err := packed.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if header.Size > 0 {
			fmt.Fprint(packed, chart)
		}
	}
	if packed.Close() != nil || zipped.Close() != nil {
		t.Fatal("the archive was not written")
	}
	return at
}

// Values that the chart evaluates can be programs; those that it prints are none
// of its business.
func TestValuesThatTheChartWouldRun(t *testing.T) {
	const forever = `"{{ tpl (toYaml .Values.initContainers) . }}"`
	for name, c := range map[string]struct{ values, want string }{
		"a template that calls itself": {
			"initContainers:\n- name: a\n- name: " + forever + "\n",
			"0.yaml:3:3: error: the istiod chart would run the template in initContainers[1].name [manifests/values-program]",
		},
		"a template of the chart that calls itself": {
			"initContainers:\n- name: '{{ template \"istiod/templates/deployment.yaml\" . }}'\n",
			"0.yaml:2:3: error: the istiod chart would run the template in initContainers[0].name [manifests/values-program]",
		},
		"a template that begins in one value and ends in the next": {
			"initContainers:\n- name: '{{ `'\n  other: '` | tpl . }}'\n",
			"0.yaml:2:3: error: the istiod chart would run the template in initContainers[0].name [manifests/values-program]",
		},
		"a template for a key": {
			"initContainers:\n- " + forever + ": a\n",
			"0.yaml:2:3: error: the istiod chart would run the template in initContainers[0].{{ tpl (toYaml .Values.initContainers) . }} [manifests/values-program]",
		},
		"behind others that are printed": {
			"sidecarInjectorWebhook: {templates: {a: '{{ tpl . }}'}}\ninitContainers: [{name: '{{ repeat 1000000000000 \"x\" }}'}]\n",
			"0.yaml:2:19: error: the istiod chart would run the template in initContainers[0].name [manifests/values-program]",
		},
		"another value by name":                   {"initContainers: [{name: a, image: '{{ .Values.global.hub }}/a:{{- $.Values.global.tag | quote -}}'}]\n", ""},
		"an injection template, which is printed": {"sidecarInjectorWebhook:\n  templates:\n    a: |\n      spec: {{ tpl .Values.a . }}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, found, err := open(t, "").Build(Input{Plan: planned(), Tree: generated(t), Pos: position, Values: []ValuesFile{{"0.yaml", []byte(c.values)}}})
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			if c.want != "" {
				want = []string{c.want}
			}
			expectFindings(t, found, want, "")
		})
	}
}
