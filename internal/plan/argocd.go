package plan

import (
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/meshgen/meshgen/internal/calendar"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
)

// ArgoCD is what the profile says of how Argo CD applies the output.
type ArgoCD struct {
	Namespace      string // of Argo CD
	Repository     string // of Git
	Revision       string
	Folder         string // of the cluster's output in the repository
	Project        string
	ManagesProject bool   // the AppProject is written
	Server         string // the cluster's API server; empty where it has a name
	Name           string // the cluster's name in Argo CD
	Chart          Chart
	Values         []string // the user's Helm values files in the repository, in merge order
	Automated      bool     // Argo CD syncs by itself
	Overruns       bool     // a sync that began before a window may run to its end: from 3.5 on
	Overlays       []Overlay
}

// Chart is a chart of a Helm repository, at an exact version.
type Chart struct{ Repository, Version string }

// Overlay is a namespace's own kustomization in the repository, and whose pods an
// autoscaler counts there.
type Overlay struct {
	Namespace, Folder string
	Scaled            []Scaled // by kind and name
}

// Overlay is a namespace's own kustomization; ok is false where none is known.
func (a *ArgoCD) Overlay(namespace string) (o Overlay, ok bool) {
	if a == nil {
		return Overlay{}, false
	}
	for _, o := range a.Overlays {
		if o.Namespace == namespace {
			return o, true
		}
	}
	return Overlay{}, false
}

// Scaled is a workload whose replicas an autoscaler owns.
type Scaled struct{ Kind, Name string }

// Application is the name of the Application of a part of the cluster: istiod, a
// namespace's workloads, or a namespace's scopes.
func (p *Plan) Application(part string) string { return p.Cluster + "-" + part }

// PatchedNamespaces are those that a Component is written for, sorted.
func (p *Plan) PatchedNamespaces() []string {
	var all []string
	for _, w := range p.Workloads {
		all = append(all, w.Namespace)
	}
	for _, r := range p.Routes {
		all = append(all, r.Namespace)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ScopedNamespaces are those that a Sidecar is written for, sorted.
func (p *Plan) ScopedNamespaces() []string {
	var all []string
	for _, s := range p.Scopes {
		if s.Written() {
			all = append(all, s.Namespace)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Freeze is a span without istiod rollouts and new scopes.
type Freeze struct {
	Event string
	calendar.Span
}

// Window is a span as Argo CD's sync windows have it, in UTC: when it begins as a
// cron expression, and how long it is as a Go duration. It is whole minutes, and
// begins and ends with the span or up to a minute outside. Cron has no year.
func (f Freeze) Window() (schedule, duration string) {
	start := f.Start.UTC().Truncate(time.Minute)
	end := f.End.UTC().Add(time.Minute - time.Nanosecond).Truncate(time.Minute)
	minutes := int(end.Sub(start) / time.Minute)
	return fmt.Sprintf("%d %d %d %d *", start.Minute(), start.Hour(), start.Day(), int(start.Month())),
		fmt.Sprintf("%dh%dm", minutes/60, minutes%60)
}

// argocd lays out where Argo CD finds what is written.
func (b *builder) argocd() {
	a := b.spec().ArgoCD
	if a == nil {
		return
	}
	out := &ArgoCD{
		Namespace: a.Namespace, Repository: a.Repository, Revision: a.Revision,
		Folder:  path.Join(a.Path, b.plan.Cluster),
		Project: a.Project.Name, ManagesProject: a.Project.Manage,
		Server: a.Destination.Server, Name: a.Destination.Name,
		Chart:     Chart{a.Chart.Repository, a.Chart.Version},
		Automated: a.Automated, Overruns: minor(a.Version) >= 5,
	}
	if out.Project == "" {
		out.Project = "mesh-" + b.plan.Cluster
	}
	if out.Name != "" {
		out.Server = ""
	}
	for _, name := range b.spec().Istiod.Values {
		out.Values = append(out.Values, path.Join(a.Profile, name))
	}
	out.Overlays = b.overlays()
	b.plan.ArgoCD = out
	b.judgeFreezes(out)
}

// overlays are the namespaces that have a kustomization in the repository and a
// Component to build it with.
func (b *builder) overlays() []Overlay {
	var all []Overlay
	patched := b.plan.PatchedNamespaces()
	for i, n := range b.spec().Namespaces {
		if n.ArgoCD == nil {
			continue
		}
		if !slices.Contains(patched, n.Name) {
			b.find(diag.Finding{
				Severity: diag.Warning, ID: "plan/argocd-without-component",
				Message: fmt.Sprintf("nothing is written for the workloads of %s: no Application builds %s", n.Name, n.ArgoCD.Path),
				Hint:    "keep the Application that it has; give its Services a workload with labels, or take argocd out of the namespace",
			}, fmt.Sprintf("spec.namespaces[%d].argocd", i))
			continue
		}
		all = append(all, Overlay{Namespace: n.Name, Folder: n.ArgoCD.Path, Scaled: b.scaled(n.Name)})
	}
	return all
}

// scaled are a namespace's workloads that meshgen scales, or that somebody else
// scales today.
func (b *builder) scaled(namespace string) []Scaled {
	var all []Scaled
	for _, w := range b.workloads {
		owned := func(i int) bool { return hasAutoscaler(b.service(i).Autoscaling) }
		if w.Namespace == namespace && slices.ContainsFunc(w.services, owned) {
			all = append(all, Scaled{w.Kind, w.Name})
		}
	}
	return all
}

func hasAutoscaler(a profile.Autoscaling) bool {
	return a.ManagedBy == "meshgen" || a.Running.HPA != "" || a.Running.ScaledObject != ""
}

// judgeFreezes warns where nothing that is written keeps a freeze.
func (b *builder) judgeFreezes(a *ArgoCD) {
	if a.ManagesProject || len(b.plan.Freezes) == 0 {
		return
	}
	b.find(diag.Finding{
		Severity: diag.Warning, ID: "plan/freezes-not-enforced",
		Message: fmt.Sprintf("project %s is somebody else's: nothing that is written stops Argo CD in %s", a.Project, plural(int64(len(b.plan.Freezes)), "freeze")),
		Hint:    "add the sync windows that PLAN.md lists to the project, or let meshgen write a project of its own (manage: true)",
	}, "spec.argocd.project")
}
