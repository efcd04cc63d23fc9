package review

import (
	"fmt"
	"path"
	"strings"
)

// order is how the files are applied for the first time without a margin lost on
// the way: first what adds pods or keeps them, then what counts on them.
func (p *page) order() {
	p.section("Order of a first adoption")
	p.line("One step at a time; the next when the one before has settled%s.", p.outsideFreezes())
	p.line("")
	steps := []string{p.replicasStep()}
	if p.plan.ArgoCD != nil {
		steps = append(steps, p.syncSteps()...)
	} else {
		steps = append(steps, p.applySteps()...)
	}
	for i, step := range append(steps, p.workloadsStep(), p.scopesStep()) {
		p.line("%d. %s", i+1, step)
	}
	p.windows()
}

func (p *page) outsideFreezes() string {
	var all []string
	for _, f := range p.plan.Freezes {
		d, _ := p.plan.Decision("istiod.freeze." + f.Event)
		all = append(all, fmt.Sprintf("`%v`", d.Value))
	}
	if len(all) == 0 {
		return ""
	}
	return ", and none within a freeze (" + strings.Join(all[:min(len(all), shown)], ", ") + ")"
}

// replicasStep comes first, for between the steps after it nothing scales istiod.
func (p *page) replicasStep() string {
	least, _ := p.plan.Decision("istiod.replicas.min")
	most, _ := p.plan.Decision("istiod.replicas.max")
	return fmt.Sprintf("**Replicas.** Let what scales istiod today keep at least %v pods and allow %v (`autoscaleMin` and `autoscaleMax`, or the ScaledObject's bounds), and wait until they are ready. "+
		"A later step takes that autoscaler away; from then on, until the ScaledObject is there, nothing scales istiod, and its pods stay as many as they are.", least.Value, most.Value)
}

// applySteps are Helm's and kubectl's. Helm goes before the budget: a budget that
// has the name of the chart's would go with it.
func (p *page) applySteps() []string {
	name := p.plan.Istiod.Deployment
	return []string{
		"**Values.** Upgrade istiod's release with `istiod/values.yaml` as the last file. It rolls out once; the chart's own HPA and budget go.",
		fmt.Sprintf("**Budget.** Apply `istiod/poddisruptionbudget-%s.yaml` at once.", name),
		fmt.Sprintf("**Thresholds.** Apply `istiod/scaledobject-%s.yaml` when every pod has the new limits: a threshold counts on them. An autoscaler of another name goes in the same minute, for KEDA refuses a second.", name),
	}
}

// syncSteps bring the Applications, which sync nothing by themselves, and then one
// sync of Argo CD, in its waves.
func (p *page) syncSteps() []string {
	what := "the Applications"
	if p.plan.ArgoCD.ManagesProject {
		what = "the project, with its freezes, and the Applications"
	}
	synced := "Nothing is synced yet, for no Application syncs by itself."
	if p.plan.ArgoCD.Automated {
		synced = "Render with `spec.argocd.automated: false` until the last step is done: they would sync at once."
	}
	return []string{
		fmt.Sprintf("**Applications.** Run `kubectl apply -k %s`, below the folder that `render` writes: it brings %s. %s", path.Join(p.plan.Cluster, "argocd"), what, synced),
		"**Nobody else.** Two Applications that apply istiod take turns: delete the one of today without its objects (`argocd app delete NAME --cascade=false`). A release of Helm stays as it is, and is not upgraded any more.",
		fmt.Sprintf("**istiod.** Delete an HPA of istiod, or a ScaledObject of another name, by hand: nobody prunes it any more, and KEDA refuses a second autoscaler. Then sync `%s`. "+
			"Its waves are the **budget** (-1), the **values** (0: istiod rolls out once), and the **thresholds** (1: the ScaledObject, when every pod has the new limits, for a threshold counts on them).", p.plan.Application("istiod")),
	}
}

func (p *page) workloadsStep() string {
	var applied, left []string
	for _, namespace := range p.plan.PatchedNamespaces() {
		if o, ok := p.plan.ArgoCD.Overlay(namespace); ok {
			applied = append(applied, fmt.Sprintf("`%s` (it builds `%s` with the Component)", p.plan.Application("workloads-"+o.Namespace), o.Folder))
		} else {
			left = append(left, fmt.Sprintf("`components: [%s]`", path.Join("…", p.plan.Cluster, "workloads", namespace)))
		}
	}
	if len(applied)+len(left) == 0 {
		return "**Workloads.** Nothing is written for them."
	}
	text := "**Workloads**, namespace by namespace."
	if len(applied) > 0 {
		text += " Sync " + some(applied) + "."
	}
	if len(left) > 0 {
		text += " Add to your own kustomization " + some(left) + "."
	}
	return text
}

func (p *page) scopesStep() string {
	namespaces := p.plan.ScopedNamespaces()
	if len(namespaces) == 0 {
		return "**Sidecars** come last, namespace by namespace; none is written yet."
	}
	var all []string
	for _, n := range namespaces {
		if p.plan.ArgoCD != nil {
			n = p.plan.Application("mesh-" + n)
		} else {
			n = "mesh/" + n
		}
		all = append(all, "`"+n+"`")
	}
	return "**Sidecars** last, namespace by namespace, each watched for a day for calls that its scope lacks: " + some(all) + "."
}

func some(all []string) string {
	text := strings.Join(all[:min(len(all), shown)], ", ")
	if more := len(all) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// windows are the freezes as Argo CD keeps them.
func (p *page) windows() {
	a := p.plan.ArgoCD
	if a == nil || len(p.plan.Freezes) == 0 {
		return
	}
	p.section("Freezes in Argo CD")
	if a.ManagesProject {
		p.line("Project `%s` has these sync windows of kind deny, for `%s` and `%s`. In an emergency `argocd proj windows list %s` gives a window's ID, and `argocd proj windows enable-manual-sync %s ID` lets people sync.",
			a.Project, p.plan.Application("istiod"), p.plan.Application("mesh-*"), a.Project, a.Project)
	} else {
		p.line("Project `%s` is not written here: add these sync windows of kind deny to it, for `%s` and `%s`.", a.Project, p.plan.Application("istiod"), p.plan.Application("mesh-*"))
	}
	p.line("")
	p.table("event", "schedule (UTC)", "duration", "meant for")
	for _, f := range p.plan.Freezes {
		schedule, duration := f.Window()
		p.row(f.Event, "`"+schedule+"`", duration, fmt.Sprint(f.End.UTC().Year()))
	}
	p.line("")
	p.line("Cron has no year: a window comes back on its day of every year for as long as the event stands in the profile. Delete the event when it is over, and the window goes with it.")
}
