package manifests

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshgen/meshgen/internal/diag"
)

// hostile builds the user's base, edited, in a working folder beside which there
// is a folder elsewhere with a kustomization, and links into it.
func hostile(t *testing.T, edits []edit, links map[string]string) diag.List {
	t.Helper()
	tree, b, files := treeOf(t, patches(t)), open(t, ""), rewritten(t, userBase(t), edits)
	inFolder(t, map[string]string{
		"elsewhere/kustomization.yaml": "resources: [secret.yaml]\n",
		"elsewhere/secret.yaml":        "apiVersion: v1\nkind: Secret\nmetadata: {name: secret}\n",
		"work/x":                       "",
	})
	t.Chdir("work")
	write(t, files)
	for name, target := range links {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	var found diag.List
	silently(t, func() {
		var err error
		if _, found, err = b.overlays(Input{Plan: scaled(), Tree: tree, Base: "base", Pos: position}); err != nil {
			t.Error(err)
		}
	})
	return found
}

func TestABaseDoesNotLeaveTheWorkingFolder(t *testing.T) {
	const kustomization = "base/kustomization.yaml"
	for name, c := range map[string]struct {
		field string // before the resources
		links map[string]string
		want  string
	}{
		"a folder above": {
			"components: [../../elsewhere]", nil,
			kustomization + ":4:14: error: the base cannot be built here: components ../../elsewhere is outside of the working folder [manifests/base-outside]",
		},
		"a folder of the disk": {
			"bases: [/etc]", nil,
			kustomization + ":4:9: error: the base cannot be built here: resources /etc is outside of the working folder [manifests/base-outside]",
		},
		"a file that a generator would print": {
			"configMapGenerator: [{name: a, files: [key=../../elsewhere/secret.yaml]}]", nil,
			kustomization + ":4:40: error: the base cannot be built here: configMapGenerator ../../elsewhere/secret.yaml is outside of the working folder [manifests/base-outside]",
		},
		"a file of variables": {
			"secretGenerator: [{name: a, envs: [/etc/passwd]}]", nil,
			kustomization + ":4:36: error: the base cannot be built here: secretGenerator /etc/passwd is outside of the working folder [manifests/base-outside]",
		},
		"a patch": {
			"patches: [{path: ../../elsewhere/secret.yaml}]", nil,
			kustomization + ":4:18: error: the base cannot be built here: patches ../../elsewhere/secret.yaml is outside of the working folder [manifests/base-outside]",
		},
		"a patch in a field that is deprecated": {
			"patchesJson6902: [{target: {version: v1, kind: Service, name: cart}, path: ../../elsewhere/secret.yaml}]", nil,
			kustomization + ":4:76: error: the base cannot be built here: patches ../../elsewhere/secret.yaml is outside of the working folder [manifests/base-outside]",
		},
		"a schema": {
			"openapi: {path: /etc/passwd}", nil,
			kustomization + ":4:17: error: the base cannot be built here: openapi /etc/passwd is outside of the working folder [manifests/base-outside]",
		},
		"a definition": {
			"crds: [../../elsewhere/secret.yaml]", nil,
			kustomization + ":4:8: error: the base cannot be built here: crds ../../elsewhere/secret.yaml is outside of the working folder [manifests/base-outside]",
		},
		"a configuration": {
			"configurations: [/etc/passwd]", nil,
			kustomization + ":4:18: error: the base cannot be built here: configurations /etc/passwd is outside of the working folder [manifests/base-outside]",
		},
		"a replacement": {
			"replacements: [{path: /etc/passwd}]", nil,
			kustomization + ":4:23: error: the base cannot be built here: replacements /etc/passwd is outside of the working folder [manifests/base-outside]",
		},
		"a link to a file": {
			"patches: [{path: innocent.yaml}]",
			map[string]string{"base/innocent.yaml": "/etc/passwd"},
			kustomization + ":4:18: error: the base cannot be built here: patches innocent.yaml is outside of the working folder [manifests/base-outside]",
		},
		"a link to a folder": {
			"components: [innocent]",
			map[string]string{"base/innocent": "../../elsewhere"},
			kustomization + ":4:14: error: the base cannot be built here: components innocent is outside of the working folder [manifests/base-outside]",
		},
		"a kustomization that is a link": {
			"components: [../more]",
			map[string]string{"more/kustomization.yaml": "../../elsewhere/kustomization.yaml"},
			"more/kustomization.yaml:1:1: error: the base cannot be built here: it leads outside of the working folder [manifests/base-outside]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := hostile(t, []edit{{kustomization, "resources:", c.field + "\nresources:"}}, c.links)
			expectFindings(t, found, []string{c.want}, "run meshgen in the folder that holds both")
		})
	}
}

// What lies within the working folder may be shared and linked.
func TestABaseMayUseWhatLiesBesideIt(t *testing.T) {
	edits := []edit{
		{"base/kustomization.yaml", "resources:", "resources:\n  - ../shared\n  - linked.yaml"},
		{"shared/kustomization.yaml", "", "resources: [map.yaml]\n"},
		{"shared/map.yaml", "", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\n"},
		{"base/map.txt", "", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: linked}\n"},
	}
	links := map[string]string{"base/linked.yaml": "map.txt", "shared/innocent": "../base"}
	if found := hostile(t, edits, links); len(found) > 0 {
		t.Errorf("got %v", found)
	}
}

func TestABaseElsewhereUsesItsOwnFolderAlone(t *testing.T) {
	here := t.TempDir()
	real, err := filepath.EvalSymlinks(here)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ working, base, want string }{
		"below the working folder":             {"work", "work/base", "the working folder"},
		"the working folder":                   {"work", "work", "the working folder"},
		"beside the working folder":            {"work", "work-2", "given"},
		"above the working folder":             {"work/base", "work", "given"},
		"the working folder is the disk's top": {"/", "work", "given"},
	} {
		t.Run(name, func(t *testing.T) {
			working := filepath.Join(here, c.working)
			if c.working == "/" {
				working = "/"
			}
			if err := os.MkdirAll(working, 0o755); err != nil {
				t.Fatal(err)
			}
			t.Chdir(working)
			s, err := scopeOf("given", filepath.Join(real, c.base))
			if err != nil || s.name != c.want {
				t.Errorf("got %v, error %v", s, err)
			}
		})
	}
}

// Whatever a base asks for, nothing connects and nothing is run.
func TestABaseNeitherConnectsNorRuns(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	connected := make(chan struct{}, 1)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			c.Close()
			connected <- struct{}{}
		}
	}()
	programs := t.TempDir()
	ran := filepath.Join(programs, "ran")
	for _, program := range []string{"git", "helm", "docker", "function"} {
		if err := os.WriteFile(filepath.Join(programs, program), []byte("#!/bin/sh\necho $0 >>"+ran+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", programs)
	host := listener.Addr().String()
	function := func(run string) string {
		return `"apiVersion: example.com/v1\nkind: Evil\nmetadata:\n  name: evil\n  annotations:\n    config.kubernetes.io/function: |\n      ` + run + `\n"`
	}
	exec := function("exec: {path: " + filepath.Join(programs, "function") + "}")
	for name, field := range map[string]string{
		"a file by http":                        "bases: ['http://" + host + "/a.yaml']",
		"a file by HTTP":                        "bases: ['HTTP://" + host + "/a.yaml']",
		"a repository by http":                  "components: ['http://" + host + "/org/repo?ref=v1']",
		"a repository with the git:: of old":    "bases: ['git::http://" + host + "/org/repo']",
		"a repository by ssh":                   "bases: ['ssh://git@" + host + "/org/repo']",
		"a repository in the spelling of scp":   "bases: ['git@127.0.0.1:org/repo']",
		"a repository of two lines":             `bases: ["http://` + host + `/org/repo\nb"]`,
		"a repository on this disk":             "bases: ['file:///org/repo.git']",
		"a repository without a scheme":         "bases: ['github.com/org/repo?ref=v1']",
		"an image of a registry":                "bases: ['oci://" + host + "/org/repo']",
		"a patch by http":                       "patches: [{path: 'http://" + host + "/a'}]",
		"a definition by http":                  "crds: ['http://" + host + "/a']",
		"a schema by http":                      "openapi: {path: 'http://" + host + "/a'}",
		"a replacement by http":                 "replacements: [{path: 'http://" + host + "/a'}]",
		"a configuration by http":               "configurations: ['http://" + host + "/a']",
		"a file of a generator by http":         "configMapGenerator: [{name: a, files: ['http://" + host + "/a']}]",
		"variables by http":                     "secretGenerator: [{name: a, envs: ['http://" + host + "/a']}]",
		"a chart":                               "helmCharts: [{name: a, repo: 'http://" + host + "', version: v1}]",
		"a chart in a field that is deprecated": "helmChartInflationGenerator: [{chartName: a, chartRepoUrl: 'http://" + host + "'}]",
		"a generator that is a program":         "generators: [" + exec + "]",
		"a transformer that is a program":       "transformers: [" + exec + "]",
		"a validator that is a program":         "validators: [" + exec + "]",
		"a transformer that is a container":     "transformers: [" + function("container: {image: "+host+"/evil, network: true}") + "]",
		"a transformer that is Starlark":        "transformers: [" + function("starlark: {path: evil.star, url: http://"+host+"/a}") + "]",
	} {
		t.Run(name, func(t *testing.T) {
			found := hostile(t, []edit{{"base/kustomization.yaml", "resources:", field + "\nresources:"}}, nil)
			if len(found) != 1 || found[0].ID != "manifests/base-offline" || found[0].Line != 4 {
				t.Errorf("got %v", found)
			}
		})
	}
	t.Run("a kustomization that is a link to one of another name", func(t *testing.T) {
		edits := []edit{
			{"base/kustomization.yaml", "resources:", "resources:\n  - ../more"},
			{"more/innocent.txt", "", "resources: ['http://" + host + "/a.yaml']\n"},
		}
		found := hostile(t, edits, map[string]string{"more/kustomization.yaml": "innocent.txt"})
		if len(found) != 1 || !strings.HasPrefix(found[0].String(), "more/innocent.txt:1:13: error: the base cannot be built here: resources http://") {
			t.Errorf("got %v", found)
		}
	})
	select {
	case <-connected:
		t.Error("something connected")
	default:
	}
	if said, err := os.ReadFile(ran); !os.IsNotExist(err) {
		t.Errorf("something ran: %s, %v", said, err)
	}
}

// kustomize says in an annotation which file an object comes from, and a base can
// say so too: a file elsewhere with an object of that name is not looked into, and
// one without an end not read.
func TestAnObjectThatLiesAboutItsFile(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "workloads.yaml")
	if err := os.WriteFile(elsewhere, []byte(userBase(t)["base/workloads.yaml"]), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"elsewhere": elsewhere, "without an end": "/dev/zero"} {
		t.Run(name, func(t *testing.T) {
			found := hostile(t, []edit{
				{"base/kustomization.yaml", "resources:", "commonAnnotations: {config.kubernetes.io/origin: \"path: ../.." + file + "\"}\nresources:"},
				{"base/workloads.yaml", "spec:\n", "spec:\n  replicas: 4\n"},
			}, nil)
			expectFindings(t, found, []string{
				"base/kustomization.yaml:1:1: error: Deployment shop/cart keeps spec.replicas 4 in the base, and ScaledObject cart scales it: each sync would reset what the autoscaler set [manifests/base-replicas]",
			}, "adopt in the two steps")
		})
	}
}
