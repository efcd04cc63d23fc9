package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/kio"
)

// kustomizeWithExec is what kustomize build --enable-alpha-plugins --enable-exec
// prints of the folder.
func kustomizeWithExec(t *testing.T, folder string) (string, error) {
	t.Helper()
	o := krusty.MakeDefaultOptions()
	o.PluginConfig = types.EnabledPluginConfig(types.BploUseStaticallyLinked)
	o.PluginConfig.FnpLoadingOptions.EnableExec = true
	built, err := krusty.MakeKustomizer(o).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return "", err
	}
	data, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return string(data), nil
}

// pipeline lays the script's objects and profile out as a user of kustomize has
// them. The profile asks for meshgen krm, which testscript has put on the path.
func pipeline(t *testing.T, kustomization string) (folder string) {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/script/krm.txtar")
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	for _, f := range archive.Files {
		switch f.Name {
		case "profile.yaml":
			put(t, filepath.Join(folder, f.Name), f.Data)
		case "list.yaml":
			nodes, err := (&kio.ByteReader{Reader: bytes.NewReader(f.Data), OmitReaderAnnotations: true}).Read()
			if err != nil {
				t.Fatal(err)
			}
			var docs bytes.Buffer
			if err := (kio.ByteWriter{Writer: &docs, ClearAnnotations: []string{"config.kubernetes.io/path", "config.kubernetes.io/index"}}).Write(nodes); err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(folder, "objects.yaml"), docs.Bytes())
		}
	}
	put(t, filepath.Join(folder, "kustomization.yaml"), []byte(kustomization))
	return folder
}

func TestKustomizeRunsKRM(t *testing.T) {
	for name, c := range map[string]struct {
		kustomization string
		want, lacks   []string
	}{
		"as a transformer of what it has built": {
			"resources: [objects.yaml]\ntransformers: [profile.yaml]\n",
			[]string{"kind: Deployment", "topologySpreadConstraints:", "kind: ScaledObject", "name: event_sale", "kind: PodDisruptionBudget", "name: legacy"},
			[]string{"HorizontalPodAutoscaler\n", "ClusterProfile", "config.kubernetes.io/"},
		},
		"as a generator beside it": {
			"resources: [objects.yaml]\ngenerators: [profile.yaml]\n",
			[]string{"kind: ScaledObject", "name: event_sale", "kind: PodDisruptionBudget", "kind: HorizontalPodAutoscaler\n"},
			[]string{"topologySpreadConstraints:", "ClusterProfile", "config.kubernetes.io/"},
		},
		"as a transformer twice": {
			"resources: [objects.yaml]\ntransformers: [profile.yaml, again]\n",
			[]string{"kind: ScaledObject"},
			[]string{"HorizontalPodAutoscaler\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := pipeline(t, c.kustomization)
			again := filepath.Join(folder, "again")
			if err := os.Mkdir(again, 0o755); err != nil {
				t.Fatal(err)
			}
			profile, err := os.ReadFile(filepath.Join(folder, "profile.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			// kustomize tells functions apart by their names alone
			put(t, filepath.Join(again, "profile.yaml"), bytes.Replace(profile, []byte("name: small"), []byte("name: small-again"), 1))
			put(t, filepath.Join(again, "kustomization.yaml"), []byte("resources: [profile.yaml]\n"))
			text, err := kustomizeWithExec(t, folder)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			for _, lacks := range c.lacks {
				if strings.Contains(text, lacks) {
					t.Errorf("%q is in\n%s", lacks, text)
				}
			}
		})
	}
}

// What is denied fails kustomize's build, and the words stand on standard error.
func TestKustomizeFailsWhereKRMDoes(t *testing.T) {
	folder := pipeline(t, "resources: [objects.yaml]\ntransformers: [profile.yaml]\n")
	file := filepath.Join(folder, "profile.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	put(t, file, bytes.Replace(data, []byte("headroom: 0.85"), []byte("headroom: 8.5"), 1))
	text, err := kustomizeWithExec(t, folder)
	if err == nil || !strings.Contains(err.Error(), "exit status 4") {
		t.Errorf("error %v, printed:\n%s", err, text)
	}
}

// What build prints is what kustomize builds of the written Components over
// the same base.
func TestBuildPrintsWhatKustomizeBuilds(t *testing.T) {
	folder := pipeline(t, "resources: [objects.yaml]\n")
	t.Chdir(folder)
	var printed, found bytes.Buffer
	if code := run([]string{"build", "profile.yaml", "--base", "."}, streams{nil, &printed, &found}); code != 0 {
		t.Fatalf("exit status %d: %s", code, &found)
	}
	found.Reset()
	if code := run([]string{"render", "profile.yaml", "-o", "out"}, streams{nil, &found, &found}); code != 0 {
		t.Fatalf("exit status %d: %s", code, &found)
	}
	above := t.TempDir()
	if err := os.CopyFS(above, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	all := filepath.Join(above, "all")
	if err := os.MkdirAll(filepath.Join(all, "base"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(above, "objects.yaml"), filepath.Join(all, "base", "objects.yaml")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(all, "kustomization.yaml"), []byte("resources: [base/objects.yaml, ../out/small/istiod]\ncomponents: [../out/small/workloads/shop]\n"))
	want, err := kustomizeWithExec(t, all)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(documents(t, want), documents(t, printed.String())); diff != "" {
		t.Errorf("(-kustomize +printed):\n%s", diff)
	}
}

// documents are the objects of a text, by kind and name.
func documents(t *testing.T, text string) map[string]any {
	t.Helper()
	nodes, err := kio.FromBytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]any{}
	for _, n := range nodes {
		object, err := n.Map()
		if err != nil {
			t.Fatal(err)
		}
		all[n.GetKind()+" "+n.GetNamespace()+"/"+n.GetName()] = object
	}
	return all
}
