package apiserver_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// firstChange makes the change that the README makes, by its own commands, and
// applies what was rendered before and after it: the server then holds the numbers
// that the README's diff shows.
func (s *server) firstChange(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, transcript, _ := strings.Cut(string(text), "\nA first change: ")
	transcript, _, _ = strings.Cut(transcript, "\n$ git restore examples golden\n")
	istio := cluster.ReadProfile(t, cluster.Example("bigsale")).Istio.Namespace
	before := overlay(t, cluster.Folder("bigsale")+"/istiod")
	after := overlay(t, cluster.Render(t, changed(t, transcript))+"/istiod")

	s.namespaces(t, istio)
	s.apply(t, before)
	live := s.apply(t, after)
	defer s.prune(t, after)
	autoscaler := live["ScaledObject.keda.sh "+istio+"/istiod"]
	if autoscaler == nil {
		t.Fatalf("no ScaledObject of istiod among %d objects", len(live))
	}
	shown := regexp.MustCompile(`(?m)^    ([-+]) spec\.([a-zA-Z.]+): (\d+)$`).FindAllStringSubmatch(transcript, -1)
	if len(shown) != 6 {
		t.Fatalf("the diff of the README shows %d numbers, want three from and to: %q", len(shown), shown)
	}
	for _, line := range shown {
		value, found, err := unstructured.NestedFieldNoCopy(autoscaler.Object, append([]string{"spec"}, strings.Split(line[2], ".")...)...)
		if err != nil || !found || (fmt.Sprint(value) == line[3]) != (line[1] == "+") {
			t.Errorf("the README shows %q, the server holds %v (%t, %v)", line[0], value, found, err)
		}
	}
}

// changed is bigsale's profile after the commands of a transcript that edit it.
func changed(t *testing.T, transcript string) string {
	t.Helper()
	const folder = "examples/clusters/bigsale"
	clone := t.TempDir()
	if err := os.CopyFS(filepath.Join(clone, folder), os.DirFS("../../"+folder)); err != nil {
		t.Fatal(err)
	}
	edits := regexp.MustCompile(`(?m)^\$ (sed -i .*)$`).FindAllStringSubmatch(transcript, -1)
	if len(edits) == 0 {
		t.Fatal("the README changes nothing")
	}
	for _, edit := range edits {
		shell := exec.Command("sh", "-c", edit[1])
		shell.Dir = clone
		if said, err := shell.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", edit[1], err, said)
		}
	}
	return filepath.Join(clone, folder, "profile.yaml")
}
