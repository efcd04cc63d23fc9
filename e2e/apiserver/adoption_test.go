package apiserver_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// adopted is the profile of a cluster whose manifests have replicas.
const adopted = "testdata/adoption/profile.yaml"

const (
	manifest = 6 // the replicas that the old manifests have
	scaled   = 9 // the pods that an autoscaler made of them
)

// tool is a way to apply manifests; its error is what the tool says.
type tool func(t *testing.T, s *server, objects []object) error

// with applies by kubectl's own code.
func with(flags ...string) tool {
	return func(t *testing.T, s *server, objects []object) error {
		t.Helper()
		texts := []string{}
		for _, o := range objects {
			texts = append(texts, o.text)
		}
		return s.kubectl(t, slices.Concat([]string{"apply", "-f", file(t, strings.Join(texts, "---\n"))}, flags)...)
	}
}

func (apply tool) must(t *testing.T, s *server, objects []object) {
	t.Helper()
	if err := apply(t, s, objects); err != nil {
		t.Fatal(err)
	}
}

// adoption is what the profile of this test is rendered to: the folder, and the
// manifests before and after.
type adoption struct {
	folder        string
	before, after []object
}

// rendered builds what was rendered over a base, which may spread zones twice.
func rendered(t *testing.T, folder string, twice bool) adoption {
	t.Helper()
	a := adoption{folder: folder}
	a.before, a.after = workloads(t, folder, "", bases(t, cluster.ReadProfile(t, adopted), twice))
	for i, o := range a.before {
		if o.GetKind() != "Service" {
			a.before[i].text = strings.Replace(o.text, "\nspec:\n", fmt.Sprintf("\nspec:\n  replicas: %d\n", manifest), 1)
		}
	}
	return a
}

// plan is the text of PLAN.md.
func (a adoption) plan(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(a.folder, "PLAN.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// commands are those that PLAN.md has for the workloads of a namespace.
func (a adoption) commands(t *testing.T, namespace string) [][]string {
	t.Helper()
	var all [][]string
	for _, found := range regexp.MustCompile("`kubectl ([^`]* -n "+namespace+"[^`]*)`").FindAllStringSubmatch(a.plan(t), -1) {
		all = append(all, strings.Fields(found[1]))
	}
	if len(all) == 0 {
		t.Fatalf("PLAN.md has no commands for %s:\n%s", namespace, a.plan(t))
	}
	return all
}

// isAutoscaler finds what the first step of the adoption applies.
func isAutoscaler(o object) bool { return o.GetKind() == "ScaledObject" }

// twoSteps does what PLAN.md says, word by word.
func (a adoption) twoSteps(t *testing.T, s *server, apply tool) {
	t.Helper()
	apply.must(t, s, slices.DeleteFunc(slices.Clone(a.after), func(o object) bool { return !isAutoscaler(o) }))
	// The editor of a user who deletes the line and saves.
	t.Setenv("KUBE_EDITOR", "sed -i /replicas:/d")
	for _, command := range a.commands(t, "shop") {
		if at := slices.Index(command, "--replicas=N"); at >= 0 {
			command[at] = fmt.Sprintf("--replicas=%d", s.most(t, a.before)+1)
		}
		err := s.kubectl(t, command...)
		if err != nil && !strings.Contains(err.Error(), "no last-applied-configuration annotation found") {
			t.Fatal(err)
		}
	}
	apply.must(t, s, slices.DeleteFunc(slices.Clone(a.after), isAutoscaler))
}

// most is the most replicas that one of the workloads has.
func (s *server) most(t *testing.T, objects []object) int64 {
	t.Helper()
	var most int64
	for _, o := range s.versions(t, objects) {
		most = max(most, count(o))
	}
	return most
}

func (s *server) firstAdoption(t *testing.T, folder string) {
	clientSide, serverSide := with(), with("--server-side", "--force-conflicts")
	argo := with("--server-side", "--force-conflicts", "--field-manager="+manager)
	s.namespaces(t, "shop")
	a := rendered(t, folder, false)
	for name, c := range map[string]struct {
		old, next tool
		scaled    bool
		naive     int64
	}{
		"client-side apply and scaled since":                    {clientSide, clientSide, true, 1},
		"client-side apply as the manifest says":                {clientSide, clientSide, false, 1},
		"Argo CD's server-side apply and scaled since":          {argo, argo, true, scaled},
		"Argo CD's server-side apply as the manifest says":      {argo, argo, false, 1},
		"from client-side to server-side and scaled since":      {clientSide, serverSide, true, scaled},
		"from client-side to server-side as the manifest says":  {clientSide, serverSide, false, 1},
		"from client-side to Argo CD's server-side as it stood": {clientSide, argo, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("naively", func(t *testing.T) {
				s.replay(t, a, c.old, c.scaled, c.naive, func() { c.next.must(t, s, a.after) })
			})
			t.Run("in two steps", func(t *testing.T) {
				least := int64(manifest)
				if c.scaled {
					least = scaled
				}
				s.replay(t, a, c.old, c.scaled, least, func() {
					a.twoSteps(t, s, c.next)
					c.next.must(t, s, a.after)
				})
			})
		})
	}
}

// replay applies the old manifests, scales, and watches for the fewest replicas
// that each workload has while work goes on.
func (s *server) replay(t *testing.T, a adoption, old tool, up bool, least int64, work func()) {
	t.Helper()
	old.must(t, s, a.before)
	if up {
		s.scale(t, a.before, scaled)
	}
	from := s.versions(t, a.before)
	work()
	for _, o := range a.before {
		if o.GetKind() == "Service" {
			continue
		}
		counts := s.replicas(t, o, from[o.id()])
		if got := slices.Min(counts); got != least {
			t.Errorf("%s had %v replicas, at least %d expected", o.id(), counts, least)
		}
	}
	s.prune(t, a.after)
}

// scale does what the HPA controller does, through the same door.
func (s *server) scale(t *testing.T, objects []object, replicas int32) {
	t.Helper()
	for _, o := range objects {
		scale := &autoscalingv1.Scale{
			ObjectMeta: metav1.ObjectMeta{Name: o.GetName(), Namespace: o.GetNamespace()},
			Spec:       autoscalingv1.ScaleSpec{Replicas: replicas},
		}
		options := metav1.UpdateOptions{FieldManager: "kube-controller-manager"}
		var err error
		switch o.GetKind() {
		case "Deployment":
			_, err = s.kubernetes.AppsV1().Deployments(o.GetNamespace()).UpdateScale(t.Context(), o.GetName(), scale, options)
		case "StatefulSet":
			_, err = s.kubernetes.AppsV1().StatefulSets(o.GetNamespace()).UpdateScale(t.Context(), o.GetName(), scale, options)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// versions are where the watches begin.
func (s *server) versions(t *testing.T, objects []object) map[string]*unstructured.Unstructured {
	t.Helper()
	all := map[string]*unstructured.Unstructured{}
	for _, o := range objects {
		got, err := s.get(t.Context(), o.Unstructured)
		if err != nil {
			t.Fatal(err)
		}
		all[o.id()] = got
	}
	return all
}

// replicas are the counts that an object has had since, each change once: the
// server keeps every version, and the watch ends at the one that holds now.
func (s *server) replicas(t *testing.T, o object, since *unstructured.Unstructured) []int64 {
	t.Helper()
	last, err := s.get(t.Context(), o.Unstructured)
	if err != nil {
		t.Fatal(err)
	}
	resource, err := s.resource(o.Unstructured)
	if err != nil {
		t.Fatal(err)
	}
	counts := []int64{count(since)}
	if last.GetResourceVersion() == since.GetResourceVersion() {
		return counts
	}
	events, err := resource.Watch(t.Context(), metav1.ListOptions{
		FieldSelector: "metadata.name=" + o.GetName(), ResourceVersion: since.GetResourceVersion(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		got, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			t.Fatalf("%s: the watch says %v", o.id(), event.Object)
		}
		if n := count(got); n != counts[len(counts)-1] {
			counts = append(counts, n)
		}
		if got.GetResourceVersion() == last.GetResourceVersion() {
			return counts
		}
	}
	t.Fatalf("%s: the watch ended before %s", o.id(), last.GetResourceVersion())
	return nil
}

func count(o *unstructured.Unstructured) int64 {
	n, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
	return n
}
