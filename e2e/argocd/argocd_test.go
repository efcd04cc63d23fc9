// Package argocd_test asks Argo CD's own code about the Applications and the
// AppProjects that meshgen writes.
package argocd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"sigs.k8s.io/yaml"
)

// root is the repository.
const root = "../.."

// run is meshgen, and what it prints.
func run(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("go", append([]string{"run", "./cmd/meshgen"}, args...)...)
	cmd.Dir = root
	var findings bytes.Buffer
	cmd.Stderr = &findings
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("meshgen %s: %v\n%s", strings.Join(args, " "), err, findings.Bytes())
	}
	return out
}

// folder is what Argo CD is given of a cluster.
type folder struct {
	applications map[string]v1alpha1.Application
	project      *v1alpha1.AppProject // nil where it is somebody else's
}

// laterField is known from Argo CD 3.5 on; its CRD has it, which e2e/apiserver
// applies by.
const laterField = "      syncOverrun: true\n"

// read decodes every file strictly: a field that Argo CD does not have is an error.
func read(t *testing.T, at string) folder {
	t.Helper()
	files, err := filepath.Glob(at + "/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", at, len(files), err)
	}
	f := folder{applications: map[string]v1alpha1.Application{}}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		switch kind, _, _ := strings.Cut(filepath.Base(file), "-"); kind {
		case "application":
			var a v1alpha1.Application
			decode(t, file, data, &a)
			f.applications[a.Name] = a
		case "appproject":
			f.project = &v1alpha1.AppProject{}
			decode(t, file, bytes.ReplaceAll(data, []byte(laterField), nil), f.project)
		case "kustomization.yaml":
		default:
			t.Errorf("%s is of no kind of Argo CD's", file)
		}
	}
	return f
}

func decode(t *testing.T, file string, data []byte, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(data, into); err != nil {
		t.Errorf("%s: %v", file, err)
	}
}

// Every Application is what Argo CD reads: in its project, with sources and a
// destination that the project permits.
func TestProjectsPermitTheirApplications(t *testing.T) {
	folders, err := filepath.Glob(root + "/golden/*/argocd")
	if err != nil || len(folders) < 2 {
		t.Fatalf("%d folders, %v", len(folders), err)
	}
	for _, at := range folders {
		t.Run(filepath.Base(filepath.Dir(at)), func(t *testing.T) {
			f := read(t, at)
			if len(f.applications) == 0 {
				t.Error("no Application")
			}
			if f.project != nil {
				f.permitted(t)
			}
		})
	}
}

func (f folder) permitted(t *testing.T) {
	t.Helper()
	if err := f.project.ValidateProject(); err != nil {
		t.Errorf("project %s: %v", f.project.Name, err)
	}
	for name, a := range f.applications {
		if a.Spec.Project != f.project.Name {
			t.Errorf("%s is in project %s, not in %s", name, a.Spec.Project, f.project.Name)
		}
		for _, s := range a.Spec.GetSources() {
			if !f.project.IsSourcePermitted(s) {
				t.Errorf("%s: source %s is not permitted", name, s.RepoURL)
			}
		}
		permitted, err := f.project.IsDestinationPermitted(&v1alpha1.Cluster{Server: a.Spec.Destination.Server, Name: a.Spec.Destination.Name},
			a.Spec.Destination.Namespace, func(string) ([]*v1alpha1.Cluster, error) { return nil, nil })
		if err != nil || !permitted {
			t.Errorf("%s: destination %v is not permitted: %v", name, a.Spec.Destination, err)
		}
	}
}

// freeze is when the plan says that istiod must not roll out.
type freeze struct {
	name       string
	start, end time.Time
}

// freezes are the plan's, up to whole minutes: cron has no seconds.
func freezes(t *testing.T, profile string) []freeze {
	t.Helper()
	var plan struct {
		Decisions []struct {
			Subject string
			Value   any
		}
	}
	if err := json.Unmarshal(run(t, "plan", profile, "-o", "json"), &plan); err != nil {
		t.Fatal(err)
	}
	var all []freeze
	for _, d := range plan.Decisions {
		name, ok := strings.CutPrefix(d.Subject, "istiod.freeze.")
		if !ok {
			continue
		}
		start, end, _ := strings.Cut(d.Value.(string), "/")
		all = append(all, freeze{name, instant(t, start).Truncate(time.Minute), instant(t, end).Add(time.Minute - time.Second).Truncate(time.Minute)})
	}
	return all
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func within(all []freeze, at time.Time) bool {
	for _, f := range all {
		if !at.Before(f.start) && at.Before(f.end) {
			return true
		}
	}
	return false
}

// Argo CD's own clock walks through every minute of the year of the calendar: it
// must refuse syncs of istiod and of scopes, by itself and by people, in the
// freezes and at no other minute, and leave the workloads alone.
func TestWindowsDenyInTheFreezesAndAtNoOtherMinute(t *testing.T) {
	out := t.TempDir()
	profile, err := filepath.Abs("testdata/freezes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	run(t, "render", profile, "-o", out)
	planned := freezes(t, profile)
	if len(planned) != 5 {
		t.Fatalf("%d freezes, want those of 5 dated events", len(planned))
	}
	f := read(t, out+"/freezes/argocd")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2028, 1, 1, 0, 0, 30, 0, time.UTC)))
		denied := 0
		for range 366 * 24 * 60 {
			now := time.Now()
			want := !within(planned, now)
			for _, name := range []string{"freezes-istiod", "freezes-mesh-shop"} {
				for _, manual := range []bool{false, true} {
					if got := f.canSync(t, name, manual); got != want {
						t.Fatalf("%s: %s may sync (by people: %v): %v, want %v", now.UTC(), name, manual, got, want)
					}
				}
			}
			if !want {
				denied++
				if !f.canSync(t, "freezes-workloads-shop", false) {
					t.Fatalf("%s: workloads may not sync", now.UTC())
				}
			}
			time.Sleep(time.Minute)
		}
		t.Logf("denied in %d of %d minutes", denied, 366*24*60)
	})
}

// A window has no year: a year later the same minutes are denied, which is what
// PLAN.md says, and why the event is to be deleted.
func TestAWindowComesBackUntilItsEventIsDeleted(t *testing.T) {
	f := read(t, root+"/golden/bigsale/argocd")
	start := instant(t, "2026-12-19T05:01:00Z")
	for name, c := range map[string]struct {
		after time.Duration
		want  bool
	}{
		"a minute before":         {-time.Minute, true},
		"in the freeze":           {time.Minute, false},
		"at its last minute":      {7*time.Hour - 2*time.Minute, false},
		"when it is over":         {7*time.Hour - time.Minute, true},
		"in the freeze next year": {365*24*time.Hour + time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(start.Add(c.after)))
				if got := f.canSync(t, "bigsale-istiod", true); got != c.want {
					t.Errorf("may sync: %v, want %v", got, c.want)
				}
			})
		})
	}
}

func (f folder) canSync(t *testing.T, name string, manual bool) bool {
	t.Helper()
	a, ok := f.applications[name]
	if !ok {
		t.Fatalf("no Application %s", name)
	}
	can, err := f.project.Spec.SyncWindows.Matches(&a).CanSync(manual)
	if err != nil {
		t.Fatal(err)
	}
	return can
}
