package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robfig/cron/v3"

	"github.com/meshgen/meshgen/internal/calendar"
	"github.com/meshgen/meshgen/internal/profile"
)

func TestAWindowHoldsItsFreeze(t *testing.T) {
	for name, c := range map[string]struct{ start, end, schedule, duration string }{
		"within a day":                            {"2026-12-19T05:01:00Z", "2026-12-19T12:00:00Z", "1 5 19 12 *", "6h59m"},
		"over several days":                       {"2026-11-27T03:01:00Z", "2026-11-30T00:00:00Z", "1 3 27 11 *", "68h59m"},
		"over the end of a year":                  {"2026-12-31T22:00:00Z", "2027-01-01T02:30:00Z", "0 22 31 12 *", "4h30m"},
		"a local offset is turned into UTC":       {"2026-12-19T05:01:00+09:00", "2026-12-19T21:00:00+09:00", "1 20 18 12 *", "15h59m"},
		"seconds are rounded away from the event": {"2026-12-19T05:01:59Z", "2026-12-19T12:00:01Z", "1 5 19 12 *", "7h0m"},
		"a leap day":                              {"2028-02-29T00:00:00Z", "2028-03-01T00:00:00Z", "0 0 29 2 *", "24h0m"},
	} {
		t.Run(name, func(t *testing.T) {
			f := Freeze{Span: calendar.Span{Start: instant(t, c.start), End: instant(t, c.end)}}
			schedule, duration := f.Window()
			if schedule != c.schedule || duration != c.duration {
				t.Errorf("got %q for %s, want %q for %s", schedule, duration, c.schedule, c.duration)
			}
			began, ended := opens(t, f.Start, schedule, duration)
			if began.After(f.Start) || f.Start.Sub(began) >= time.Minute || ended.Before(f.End) || ended.Sub(f.End) >= time.Minute {
				t.Errorf("the window is from %s to %s, the freeze from %s to %s", began, ended, f.Start, f.End)
			}
		})
	}
}

// opens is when the window opens and closes that is open a second after a moment.
func opens(t *testing.T, at time.Time, schedule, duration string) (start, end time.Time) {
	t.Helper()
	s, err := cron.ParseStandard(schedule)
	if err != nil {
		t.Fatal(err)
	}
	d, err := time.ParseDuration(duration)
	if err != nil {
		t.Fatal(err)
	}
	start = s.Next(at.UTC().Add(time.Second - d))
	return start, start.Add(d)
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestAFreezeIsThatOfItsDecision(t *testing.T) {
	pl := build(t, meshOf(func(p *profile.Profile) {
		p.Spec.Events = []profile.Event{dated("sale", "2026-12-19T17:00:00+09:00", "2026-12-19T21:00:00+09:00", "3"), weekly("Asia/Seoul", "11:30", "13:30", "Mon")}
	}))
	d, _ := pl.Decision("istiod.freeze.sale")
	if len(pl.Freezes) != 1 || d.Value != rfc3339(pl.Freezes[0].Start)+"/"+rfc3339(pl.Freezes[0].End) {
		t.Errorf("freezes %v, the decision is %v", pl.Freezes, d.Value)
	}
}

func TestWhereArgoCDFindsTheOutput(t *testing.T) {
	full := profile.ArgoCD{
		Repository: "https://git.example.com/mesh.git", Path: "clusters/golden", Revision: "main", Profile: "clusters/mesh", Version: "3.4",
		Namespace: "argocd", Project: profile.ArgoCDProject{Manage: true}, Destination: profile.ArgoCDDestination{Server: "https://kubernetes.default.svc"},
		Chart: profile.ArgoCDChart{Repository: "https://charts.example.com", Version: "1.24.6"},
	}
	base := ArgoCD{
		Namespace: "argocd", Repository: full.Repository, Revision: "main", Folder: "clusters/golden/mesh", Project: "mesh-mesh", ManagesProject: true,
		Server: full.Destination.Server, Chart: Chart{"https://charts.example.com", "1.24.6"},
	}
	for name, c := range map[string]struct {
		change func(*profile.ArgoCD, *profile.Spec)
		want   func(*ArgoCD)
	}{
		"as it is written":                          {func(*profile.ArgoCD, *profile.Spec) {}, func(*ArgoCD) {}},
		"at the top of the repository":              {func(a *profile.ArgoCD, _ *profile.Spec) { a.Path = "." }, func(a *ArgoCD) { a.Folder = "mesh" }},
		"a name of the cluster wins over a default": {func(a *profile.ArgoCD, _ *profile.Spec) { a.Destination.Name = "eu" }, func(a *ArgoCD) { a.Name, a.Server = "eu", "" }},
		"values files are beside the profile": {
			func(_ *profile.ArgoCD, s *profile.Spec) { s.Istiod.Values = []string{"b.yaml", "more/a.yaml"} },
			func(a *ArgoCD) { a.Values = []string{"clusters/mesh/b.yaml", "clusters/mesh/more/a.yaml"} },
		},
		"a version with windows that let a sync end": {func(a *profile.ArgoCD, _ *profile.Spec) { a.Version = "3.10" }, func(a *ArgoCD) { a.Overruns = true }},
		"workloads with an autoscaler, whoever made it": {
			func(_ *profile.ArgoCD, s *profile.Spec) {
				s.Namespaces = []profile.Namespace{{Name: "shop", ArgoCD: &profile.ArgoCDOverlay{Path: "apps/shop"}}, {Name: "alone"}}
				s.Services = []profile.Service{
					scaledBy("cart", profile.Autoscaling{ManagedBy: "meshgen"}), scaledBy("fixed", profile.Autoscaling{ManagedBy: "none"}),
					scaledBy("theirs", profile.Autoscaling{ManagedBy: "none", Running: profile.RunningAutoscaler{HPA: "theirs"}}),
				}
			},
			func(a *ArgoCD) {
				a.Overlays = []Overlay{{Namespace: "shop", Folder: "apps/shop", Scaled: []Scaled{{"Deployment", "cart"}, {"Deployment", "theirs"}}}}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, want := full, base
			pl := build(t, meshOf(func(p *profile.Profile) {
				p.Metadata.Name = "mesh"
				c.change(&a, &p.Spec)
				p.Spec.ArgoCD = &a
			}))
			c.want(&want)
			if diff := cmp.Diff(&want, pl.ArgoCD); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func scaledBy(name string, by profile.Autoscaling) profile.Service {
	return profile.Service{
		Name: name, Namespace: "shop", Replicas: profile.Replicas{Min: 3, Max: 9}, Autoscaling: by,
		Workload: &profile.Workload{Kind: "Deployment", Name: name, Labels: map[string]string{"app": name}},
	}
}
