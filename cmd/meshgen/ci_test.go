package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// judged are the folders that CI is given here.
var judged = []string{"examples/fleet", "examples/clusters/bigsale", "golden/fleet"}

// strict reads a YAML file that may have no field but those of the type.
func strict(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// action is what GitHub reads of a composite action.
type action struct {
	Name, Description string
	Inputs            map[string]struct {
		Description, Default string
		Required             bool
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			Name, ID, If, Shell, Run string
			Env                      map[string]string
		}
	}
}

var inputExpression = regexp.MustCompile(`\$\{\{ inputs\.([a-z-]+) \}\}`)

// The action's own steps, run as a runner does, for inputs that a workflow gives.
func TestGitHubAction(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var a action
	strict(t, filepath.Join(root, "docs/ci/github/action.yml"), &a)
	for _, s := range a.Runs.Steps {
		if s.Shell != "bash" || strings.Contains(s.Run, "${{") {
			t.Errorf("%s: a step needs its shell, and takes inputs from its environment alone: what is spliced into a script is run", s.Name)
		}
	}
	if a.Runs.Using != "composite" || len(a.Runs.Steps) != 2 || a.Runs.Steps[0].If != "inputs.meshgen == ''" {
		t.Fatalf("%+v", a.Runs)
	}
	hub := published(t, root, judged...)
	const moved = "sed -i 's/connections: 3600/connections: 3000/' examples/clusters/bigsale/profile.yaml && git commit -qam two"
	const invalid = "sed -i 's/memory: 800Mi/memory: much/' examples/clusters/bigsale/profile.yaml && git commit -qam two"
	for name, c := range map[string]struct {
		inputs          map[string]string
		change          string
		status, changed string
		out             string // annotations
		summary         string
		wrong           bool // usage, of which there is no document
	}{
		"profiles alone are judged": {
			inputs: map[string]string{"mode": "validate", "profiles": "examples/fleet\nexamples/clusters/bigsale\n"},
			status: "0", changed: "false", out: "::warning file=examples/clusters/bigsale/profile.yaml,line=50,", summary: "\nbigsale: valid\n",
		},
		"a shard has its part": {
			inputs: map[string]string{"mode": "validate", "profiles": "examples/fleet", "shard": "2/3"},
			status: "0", changed: "false", summary: "~~~~~~~~\ntokyo: valid\n~~~~~~~~\n",
		},
		"what is wrong is shown at its line": {
			inputs: map[string]string{"mode": "validate", "profiles": "examples/clusters/bigsale"}, change: invalid,
			status: "4", changed: "false", out: "::error file=examples/clusters/bigsale/profile.yaml,line=", summary: "~~~~~~~~\n",
		},
		"what was rendered is as it was": {
			inputs: map[string]string{"profiles": "examples/fleet", "rendered": "golden/fleet"},
			status: "0", changed: "false", summary: "~~~~~~~~\n~~~~~~~~\n",
		},
		"a drift is shown": {
			inputs: map[string]string{"profiles": "examples/fleet", "rendered": "golden/fleet"}, change: "echo >> golden/fleet/seoul/PLAN.md",
			status: "2", changed: "true", summary: "\n--- ",
		},
		"a change that is read breaks nothing": {
			inputs: map[string]string{"mode": "diff", "profiles": "examples"}, change: moved,
			status: "0", changed: "true", out: "title=change/event-falls::", summary: "<!-- meshgen diff -->",
		},
		"no change has no summary": {
			inputs: map[string]string{"mode": "diff", "profiles": "examples/fleet"}, change: moved,
			status: "0", changed: "false",
		},
		"a change that is not valid fails": {
			inputs: map[string]string{"mode": "diff", "profiles": "examples"}, change: invalid,
			status: "4", changed: "false", out: "::error file=examples/clusters/bigsale/profile.yaml,line=",
		},
		"a base that is not there fails": {
			inputs: map[string]string{"mode": "diff", "profiles": "examples/fleet", "base-ref": "v9"},
			status: "1", changed: "false", out: "::error title=meshgen::v9 is no file or folder here",
		},
		"the day says what is over": {
			inputs: map[string]string{"mode": "validate", "profiles": "examples/clusters/bigsale", "as-of": "2027-01-01"},
			status: "0", changed: "false", out: "title=plan/event-ended::", summary: "\nbigsale: valid\n",
		},
		"today is a day": {
			inputs: map[string]string{"mode": "validate", "profiles": "examples/fleet/tokyo", "as-of": "today"},
			status: "0", changed: "false", summary: "\ntokyo: valid\n",
		},
		"a base of one's own is proven over": {
			inputs: map[string]string{"mode": "validate", "profiles": "examples/clusters/bigsale", "base": "golden"},
			status: "4", changed: "false", out: "title=manifests/base-fails::", summary: "~~~~~~~~\n",
		},
		"the chart is the one that is given": {
			inputs: map[string]string{"mode": "diff", "profiles": "examples", "chart": "golden"}, change: moved,
			status: "1", changed: "false", out: "::error title=meshgen::read the chart golden",
		},
		"an input that the mode does not take is refused": {
			inputs: map[string]string{"mode": "diff", "profiles": "examples", "base": "golden"}, change: moved,
			status: "1", changed: "false", wrong: true,
		},
		"an input is no program and no flag": {
			inputs: map[string]string{"mode": "validate", "profiles": "--help\nexamples/fleet; touch stolen\n$(touch stolen)"},
			status: "1", changed: "false", out: "::error title=meshgen::stat --help: no such file", summary: "stat --help: no such file",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clone, temp := cloneOf(t, root, hub), t.TempDir()
			env := []string{"RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + filepath.Join(temp, "output"), "GITHUB_STEP_SUMMARY=" + filepath.Join(temp, "summary")}
			program, runs := tallied(t, filepath.Join(clone, "bin", "meshgen"))
			c.inputs["meshgen"] = program
			env = append(env, a.environment(t, c.inputs)...)
			if c.change != "" {
				runShown(t, root, clone, c.change, true)
			}
			shell := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", a.Runs.Steps[1].Run)
			shell.Dir, shell.Env = clone, append(os.Environ(), env...)
			printed, _ := shell.Output()
			if code := strconv.Itoa(shell.ProcessState.ExitCode()); code != c.status {
				t.Errorf("exit status %s, want %s", code, c.status)
			}
			sarif, summary := filepath.Join(temp, "meshgen.sarif"), filepath.Join(temp, "meshgen.md")
			if c.wrong {
				sarif = ""
			}
			want := "status=" + c.status + "\nchanged=" + c.changed + "\nsarif-path=" + sarif + "\nsummary-path=" + summary + "\n"
			if diff := cmp.Diff(want, text(t, filepath.Join(temp, "output"))); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
			if !strings.Contains(string(printed), c.out) || c.out == "" && len(printed) > 0 {
				t.Errorf("printed %q, want %q", printed, c.out)
			}
			if got := text(t, summary); !strings.Contains(got, c.summary) || c.summary == "" && got != "" || got != text(t, filepath.Join(temp, "summary")) {
				t.Errorf("summary %q, want %q", got, c.summary)
			}
			if got := text(t, runs); got != "1" {
				t.Errorf("it is judged %q times", got)
			}
			if !c.wrong {
				isSARIF(t, sarif)
			}
			if _, err := os.Stat(filepath.Join(clone, "stolen")); err == nil {
				t.Error("an input was run")
			}
		})
	}
}

// environment is what the step that judges gets for these inputs.
func (a action) environment(t *testing.T, inputs map[string]string) []string {
	t.Helper()
	for name := range inputs {
		if _, known := a.Inputs[name]; !known {
			t.Errorf("the action has no input %s", name)
		}
	}
	var env []string
	for key, value := range a.Runs.Steps[1].Env {
		env = append(env, key+"="+inputExpression.ReplaceAllStringFunc(value, func(x string) string {
			name := inputExpression.FindStringSubmatch(x)[1]
			if given, ok := inputs[name]; ok {
				return given
			}
			return a.Inputs[name].Default
		}))
	}
	return env
}

func isSARIF(t *testing.T, file string) {
	t.Helper()
	var document struct{ Version string }
	if err := json.Unmarshal([]byte(text(t, file)), &document); err != nil || document.Version != "2.1.0" {
		t.Errorf("SARIF %+v, %v", document, err)
	}
}

// tallied is a program that runs another, alone in a folder, and a file that has a
// 1 for each time.
func tallied(t *testing.T, program string) (alone, runs string) {
	t.Helper()
	folder := t.TempDir()
	alone, runs = filepath.Join(folder, "meshgen"), filepath.Join(folder, "runs")
	put(t, alone, fmt.Appendf(nil, "#!/bin/sh\nprintf 1 >> '%s'\nexec '%s' \"$@\"\n", runs, program))
	if err := os.Chmod(alone, 0o755); err != nil {
		t.Fatal(err)
	}
	return alone, runs
}

func text(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The jobs of the template write together what one run writes, each by one run and
// with no other program than the shell.
func TestGitLabTemplate(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var jobs map[string]struct {
		Image struct {
			Name       string
			Entrypoint []string
		}
		Variables map[string]string
		Script    []string
		Artifacts struct {
			When    string
			Reports struct {
				CodeQuality string `yaml:"codequality"`
				JUnit       string `yaml:"junit"`
			}
		}
	}
	strict(t, filepath.Join(root, "docs/ci/gitlab/meshgen.yml"), &jobs)
	job := jobs[".meshgen"]
	clone := cloneOf(t, root, published(t, root, judged...))
	program, runs := tallied(t, filepath.Join(clone, "bin", "meshgen"))
	job.Variables["MESHGEN_PROFILES"], job.Variables["MESHGEN_RENDERED"] = "examples/fleet", "golden/fleet"
	run := func(given ...string) int {
		env := []string{"PATH=" + filepath.Dir(program), "CI_PIPELINE_CREATED_AT=2026-12-01T23:59:59Z"}
		for name, value := range job.Variables {
			env = append(env, name+"="+value)
		}
		shell := exec.Command("/bin/sh", "-ec", strings.Join(job.Script, "\n"))
		shell.Dir, shell.Env = clone, append(env, given...)
		_, _ = shell.Output()
		return shell.ProcessState.ExitCode()
	}
	var statuses []int
	var clusters []string
	runShown(t, root, clone, "echo >> golden/fleet/tokyo/PLAN.md", true)
	for _, node := range []string{"1", "2", "3"} {
		statuses = append(statuses, run("CI_NODE_INDEX="+node, "CI_NODE_TOTAL=3"))
		var quality []any
		if err := json.Unmarshal([]byte(text(t, filepath.Join(clone, job.Artifacts.Reports.CodeQuality))), &quality); err != nil {
			t.Errorf("node %s: %v", node, err)
		}
		var suites struct {
			XMLName xml.Name `xml:"testsuites"`
			Suites  []struct {
				Name string `xml:"name,attr"`
			} `xml:"testsuite"`
		}
		if err := xml.Unmarshal([]byte(text(t, filepath.Join(clone, job.Artifacts.Reports.JUnit))), &suites); err != nil {
			t.Errorf("node %s: %v", node, err)
		}
		for _, s := range suites.Suites {
			clusters = append(clusters, s.Name)
		}
	}
	if diff := cmp.Diff([]string{"seoul", "singapore", "tokyo"}, slices.Sorted(slices.Values(clusters))); diff != "" || job.Artifacts.When != "always" {
		t.Errorf("clusters of the reports, kept %s (-want +got):\n%s", job.Artifacts.When, diff)
	}
	if diff := cmp.Diff([]int{0, 2, 0}, statuses); diff != "" {
		t.Errorf("tokyo, in shard 2, has drifted (-want +got):\n%s", diff)
	}
	if got := text(t, runs); got != "111" {
		t.Errorf("three jobs judge %q times", got)
	}
	one := []string{"MESHGEN_PROFILES=examples/clusters/bigsale", "MESHGEN_RENDERED=golden/bigsale"}
	for name, c := range map[string]struct {
		variable string
		status   int
		found    string
	}{
		"the day says what is over":          {"MESHGEN_AS_OF=2027-01-01", 2, "plan/event-ended"},
		"today is the pipeline's":            {"MESHGEN_AS_OF=today", 2, ""},
		"a base of one's own is proven over": {"MESHGEN_BASE=golden", 4, "manifests/base-fails"},
		"the chart is the one that is given": {"MESHGEN_CHART=golden", 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if status := run(append(one, c.variable)...); status != c.status {
				t.Errorf("exit status %d, want %d", status, c.status)
			}
			if got := text(t, filepath.Join(clone, job.Artifacts.Reports.CodeQuality)); !strings.Contains(got, c.found) || strings.Contains(got, "plan/event-ended") != (c.found == "plan/event-ended") {
				t.Errorf("found %s, want %s", got, c.found)
			}
		})
	}
}

// The hooks run as pre-commit does: entry and args, without file names.
func TestPreCommitHooks(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var hooks []struct {
		ID, Name, Description, Entry, Language, Files string
		PassFilenames                                 *bool `yaml:"pass_filenames"`
	}
	strict(t, filepath.Join(root, ".pre-commit-hooks.yaml"), &hooks)
	args := map[string][]string{"meshgen-validate": {"examples/fleet"}, "meshgen-check": {"examples/fleet", "-o", "golden/fleet"}}
	for _, h := range hooks {
		t.Run(h.ID, func(t *testing.T) {
			if h.Language != "golang" || h.PassFilenames == nil || *h.PassFilenames {
				t.Errorf("%+v", h)
			}
			if _, err := regexp.Compile(h.Files); err != nil {
				t.Error(err)
			}
			words := append(strings.Fields(h.Entry), args[h.ID]...)
			if len(args[h.ID]) == 0 {
				t.Fatal("no case")
			}
			hook := exec.Command(words[0], words[1:]...)
			hook.Dir = cloneOf(t, root, published(t, root, judged...))
			if printed, err := hook.CombinedOutput(); err != nil {
				t.Errorf("%v: %v\n%s", words, err, printed)
			}
		})
	}
}

// plugin is what Argo CD reads of a plugin file (cmpserver/plugin/config.go).
type plugin struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	Spec       struct {
		Generate struct{ Command, Args []string }
		Discover struct {
			FileName string `yaml:"fileName"`
		}
	}
}

// Argo CD looks for the file below an application's folder, runs the command there,
// and takes what it prints for manifests alone.
func TestArgoCDPlugin(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var p plugin
	strict(t, filepath.Join(root, "docs/ci/argocd/plugin.yaml"), &p)
	if p.APIVersion != "argoproj.io/v1alpha1" || p.Kind != "ConfigManagementPlugin" || p.Metadata.Name != "meshgen" {
		t.Errorf("%+v", p)
	}
	for _, name := range []string{"bigsale", "boutique", "featureflag"} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(root, "examples/clusters", name)
			if found, err := filepath.Glob(filepath.Join(folder, p.Spec.Discover.FileName)); err != nil || len(found) != 1 {
				t.Fatalf("%v, %v", found, err)
			}
			generate := exec.Command(p.Spec.Generate.Command[0], append(p.Spec.Generate.Command[1:], p.Spec.Generate.Args...)...)
			generate.Dir = folder
			generate.Env = append(os.Environ(), "ARGOCD_APP_NAME="+name, "ARGOCD_APP_NAMESPACE=istio-system", "ARGOCD_APP_PARAMETERS=[]")
			printed, err := generate.Output()
			if err != nil {
				t.Fatal(err)
			}
			for id, object := range documents(t, string(printed)) {
				data, err := json.Marshal(object)
				if err != nil || !strings.Contains(string(data), `"app.kubernetes.io/managed-by":"meshgen"`) {
					t.Errorf("%s is printed and is not meshgen's: %s, %v", id, data, err)
				}
			}
			if !bytes.Contains(printed, []byte("kind: ScaledObject")) {
				t.Errorf("printed %s", printed)
			}
		})
	}
}

// The workflows that the page on fleets writes out have shards that are the whole,
// and give the action and the template what they take.
func TestFleetPageMatrices(t *testing.T) {
	t.Chdir("../..")
	page, err := os.ReadFile("docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	var a action
	strict(t, "docs/ci/github/action.yml", &a)
	matrices := 0
	for _, m := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllSubmatch(page, -1) {
		var workflow struct {
			Jobs map[string]struct {
				Strategy struct{ Matrix struct{ Shard []string } }
				Steps    []struct {
					Uses string
					With map[string]string
				}
			}
		}
		var anything any
		if err := yaml.Unmarshal(m[1], &anything); err != nil {
			t.Errorf("%v in\n%s", err, m[1])
		}
		if yaml.Unmarshal(m[1], &workflow) != nil || len(workflow.Jobs) == 0 {
			continue
		}
		for _, job := range workflow.Jobs {
			if len(job.Strategy.Matrix.Shard) > 0 {
				matrices++
			}
			seen := map[uint64]bool{}
			for _, text := range job.Strategy.Matrix.Shard {
				var s shard
				if err := s.Set(text); err != nil || s.parts != uint64(len(job.Strategy.Matrix.Shard)) {
					t.Errorf("shard %s of %d: %v", text, len(job.Strategy.Matrix.Shard), err)
				}
				seen[s.index] = true
			}
			if len(seen) != len(job.Strategy.Matrix.Shard) || len(seen) == 1 {
				t.Errorf("shards %v", job.Strategy.Matrix.Shard)
			}
			ours := 0
			for _, step := range job.Steps {
				if !strings.Contains(step.Uses, "/docs/ci/github@") {
					continue
				}
				ours++
				a.environment(t, step.With)
			}
			if ours != 1 {
				t.Errorf("the action is used %d times", ours)
			}
			for _, m := range regexp.MustCompile(`steps\.meshgen\.outputs\.([a-z-]+)`).FindAllStringSubmatch(string(m[1]), -1) {
				if _, ok := a.Outputs[m[1]]; !ok {
					t.Errorf("the action has no output %s", m[1])
				}
			}
		}
	}
	if matrices != 1 {
		t.Errorf("%d workflows", matrices)
	}
}
