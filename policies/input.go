package policies

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/internal/plan"
)

// planInput is the plan as policies read it. Its names are a contract of its
// own: a Go field that is renamed elsewhere must not silence a policy, so every
// name is written here and required by input.json.
type planInput struct {
	Istiod    istiodInput              `json:"istiod"`
	Workloads []workloadInput          `json:"workloads"`
	Routes    []routeInput             `json:"routes"`
	Scopes    []scopeInput             `json:"scopes"`
	Decisions map[string]decisionInput `json:"decisions"`
}

type istiodInput struct {
	Deployment        string            `json:"deployment"`
	Namespace         string            `json:"namespace"`
	Revision          string            `json:"revision"`
	Version           string            `json:"version"`
	KubernetesVersion string            `json:"kubernetesVersion"`
	CPU               string            `json:"cpu"`
	Memory            string            `json:"memory"`
	Zones             int64             `json:"zones"`
	HardZoneSpread    bool              `json:"hardZoneSpread"`
	PriorityClass     string            `json:"priorityClass"`
	Tolerations       []tolerationInput `json:"tolerations"`
	DedicatedPools    []poolInput       `json:"dedicatedPools"`
	ServerAddress     string            `json:"serverAddress"`
	Triggers          []triggerInput    `json:"triggers"`
}

type tolerationInput struct {
	Key      string `json:"key"`
	Operator string `json:"operator"`
	Value    string `json:"value"`
	Effect   string `json:"effect"`
}

type poolInput struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
}

type triggerInput struct {
	Name      string `json:"name"`
	Event     string `json:"event"`
	Query     string `json:"query"`
	Threshold int64  `json:"threshold"`
	Start     string `json:"start"`
	End       string `json:"end"`
	TimeZone  string `json:"timeZone"`
	Replicas  int64  `json:"replicas"`
}

type workloadInput struct {
	Subject    string            `json:"subject"` // what its decisions begin with
	Namespace  string            `json:"namespace"`
	Name       string            `json:"name"`
	Kind       string            `json:"kind"`
	Container  string            `json:"container"`
	Labels     map[string]string `json:"labels"`
	OwnsSpread bool              `json:"ownsSpread"` // whether spread is the whole list
	Spread     []spreadInput     `json:"spread"`
	Scaling    []scalingInput    `json:"scaling"` // at most one
}

type spreadInput struct {
	TopologyKey       string `json:"topologyKey"`
	WhenUnsatisfiable string `json:"whenUnsatisfiable"`
	MaxSkew           int64  `json:"maxSkew"`
}

type scalingInput struct {
	Name              string         `json:"name"`
	HPA               string         `json:"hpa"`
	Extends           bool           `json:"extends"`
	Min               int64          `json:"min"`
	Max               int64          `json:"max"`
	CPUUtilization    int64          `json:"cpuUtilization"`
	MemoryUtilization int64          `json:"memoryUtilization"`
	Fallback          int64          `json:"fallback"`
	Triggers          []triggerInput `json:"triggers"`
}

type routeInput struct {
	Subject             string `json:"subject"`
	Namespace           string `json:"namespace"`
	Name                string `json:"name"`
	TrafficDistribution string `json:"trafficDistribution"`
}

type scopeInput struct {
	Subject   string            `json:"subject"`
	Namespace string            `json:"namespace"`
	Name      string            `json:"name"`
	Written   bool              `json:"written"`
	Selector  map[string]string `json:"selector"`
	Hosts     []string          `json:"hosts"`
}

type decisionInput struct {
	Value   any           `json:"value"`
	Unit    string        `json:"unit"`
	Running *runningInput `json:"running"`
}

type runningInput struct {
	Value   any    `json:"value"`
	Verdict string `json:"verdict"`
}

func planOf(p *plan.Plan) planInput {
	in := planInput{
		Istiod: istiodOf(p.Istiod), Workloads: []workloadInput{}, Routes: []routeInput{}, Scopes: []scopeInput{}, Decisions: map[string]decisionInput{},
	}
	for _, w := range p.Workloads {
		in.Workloads = append(in.Workloads, workloadOf(w))
	}
	for _, r := range p.Routes {
		in.Routes = append(in.Routes, routeInput{r.Subject(), r.Namespace, r.Name, r.TrafficDistribution})
	}
	for _, s := range p.Scopes {
		in.Scopes = append(in.Scopes, scopeInput{
			s.Subject(), s.Namespace, s.Name, s.Written(), copied(s.Selector), append([]string{}, s.Hosts...),
		})
	}
	for _, d := range p.Decisions {
		decision := decisionInput{Value: d.Value, Unit: d.Unit}
		if d.Running != nil {
			decision.Running = &runningInput{d.Running.Value, string(d.Running.Verdict)}
		}
		in.Decisions[d.Subject] = decision
	}
	return in
}

func istiodOf(i plan.Istiod) istiodInput {
	in := istiodInput{
		Deployment: i.Deployment, Namespace: i.Namespace, Revision: i.Revision,
		Version: i.Version, KubernetesVersion: i.KubernetesVersion,
		CPU: i.CPU, Memory: i.Memory, Zones: i.Zones, HardZoneSpread: i.HardZoneSpread,
		PriorityClass: i.PriorityClass, ServerAddress: i.ServerAddress,
		Tolerations: []tolerationInput{}, DedicatedPools: []poolInput{}, Triggers: triggersOf(i.Triggers),
	}
	for _, t := range i.Tolerations {
		in.Tolerations = append(in.Tolerations, tolerationInput(t))
	}
	for _, p := range i.DedicatedPools {
		in.DedicatedPools = append(in.DedicatedPools, poolInput{p.Name, copied(p.Labels)})
	}
	return in
}

func triggersOf(triggers []plan.Trigger) []triggerInput {
	in := []triggerInput{}
	for _, t := range triggers {
		in = append(in, triggerInput{
			Name: t.Name, Event: t.Event, Query: t.Query, Threshold: t.Threshold,
			Start: t.Start, End: t.End, TimeZone: t.TimeZone, Replicas: t.Replicas,
		})
	}
	return in
}

func workloadOf(w plan.Workload) workloadInput {
	in := workloadInput{
		Subject: w.Subject(), Namespace: w.Namespace, Name: w.Name, Kind: w.Kind, Container: w.Container,
		Labels: copied(w.Labels), OwnsSpread: w.Spread != nil, Spread: []spreadInput{}, Scaling: []scalingInput{},
	}
	for _, s := range w.Spread {
		in.Spread = append(in.Spread, spreadInput(s))
	}
	if s := w.Scaling; s != nil {
		in.Scaling = append(in.Scaling, scalingInput{
			Name: s.Name, HPA: s.HPA, Extends: s.Extends, Min: s.Min, Max: s.Max, CPUUtilization: s.CPUUtilization,
			MemoryUtilization: s.MemoryUtilization, Fallback: s.Fallback, Triggers: triggersOf(s.Triggers),
		})
	}
	return in
}

// copied is the map, never nil: JSON writes a nil map as null.
func copied(labels map[string]string) map[string]string {
	out := make(map[string]string, len(labels))
	maps.Copy(out, labels)
	return out
}

// inputKey is all that the judgement of the objects depends on.
func inputKey(p *plan.Plan, objects []manifests.Object) (string, error) {
	h := sha256.New()
	e := json.NewEncoder(h)
	if p != nil {
		if err := e.Encode([]any{planOf(p), p.Bases.Namespaced}); err != nil {
			return "", fmt.Errorf("plan of %s as policy input: %w", p.Cluster, err)
		}
	}
	for _, o := range judgedOf(p, objects) {
		if err := e.Encode([]any{fileOf(o, p), o.Object}); err != nil {
			return "", fmt.Errorf("%s as policy input: %w", o.File, err)
		}
	}
	return string(h.Sum(nil)), nil
}

// judgedOf are the objects without Argo CD's own, where there is a plan: they name
// the cluster, go to where Argo CD runs, and are no part of what runs in the mesh.
func judgedOf(p *plan.Plan, objects []manifests.Object) []manifests.Object {
	if p == nil {
		return objects
	}
	return slices.DeleteFunc(slices.Clone(objects), func(o manifests.Object) bool {
		version, _ := o.Object["apiVersion"].(string)
		return strings.HasPrefix(version, "argoproj.io/")
	})
}

// own stands for the cluster's folder in the name of a file.
const own = "./"

// fileOf is the name of an object's file, the same whatever the cluster is called.
func fileOf(o manifests.Object, p *plan.Plan) string {
	if p != nil {
		if below, ok := strings.CutPrefix(o.File, p.Cluster+"/"); ok {
			return own + below
		}
	}
	return o.File
}

// placed undoes fileOf.
func placed(file string, p *plan.Plan) string {
	if below, ok := strings.CutPrefix(file, own); ok && p != nil {
		return p.Cluster + "/" + below
	}
	return file
}

// document is the whole input, or only its objects where there is no plan. Nothing
// in it is the cluster's own name.
func document(p *plan.Plan, objects []manifests.Object) (map[string]any, error) {
	listed := make([]any, 0, len(objects))
	for _, o := range judgedOf(p, objects) {
		listed = append(listed, map[string]any{"file": fileOf(o, p), "object": received(p, o)})
	}
	doc := map[string]any{"objects": listed}
	if p == nil {
		return doc, nil
	}
	b, err := json.Marshal(planOf(p))
	if err != nil {
		return nil, fmt.Errorf("plan of %s as policy input: %w", p.Cluster, err)
	}
	var read any
	if err := util.UnmarshalJSON(b, &read); err != nil {
		return nil, fmt.Errorf("plan of %s as policy input: %w", p.Cluster, err)
	}
	doc["plan"] = read
	return doc, nil
}

// received is an object as the API server takes it: without nulls, with a name,
// and in a namespace. Where the user's bases carry none, their kustomization sets
// it for the folder of the workloads that the object was built in.
func received(p *plan.Plan, o manifests.Object) any {
	object, _ := withoutNulls(o.Object).(map[string]any)
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return object
	}
	if name := nameIn(metadata); name != nil {
		metadata["name"] = name
	}
	if namespace, ok := folderOf(p, o); ok && metadata["namespace"] == nil {
		metadata["namespace"] = namespace
	}
	return object
}

// nameIn is an object's name, or what the API server begins it with.
func nameIn(metadata map[string]any) any {
	if metadata["name"] == nil {
		return metadata["generateName"]
	}
	return metadata["name"]
}

// folderOf is the namespace whose Component an object without one comes from.
func folderOf(p *plan.Plan, o manifests.Object) (namespace string, ok bool) {
	if p == nil || p.Bases.Namespaced {
		return "", false
	}
	below, ok := strings.CutPrefix(o.File, p.Cluster+"/workloads/")
	if !ok {
		return "", false
	}
	namespace, _, ok = strings.Cut(below, "/")
	return namespace, ok
}

// withoutNulls is a copy without the fields that are null, which the API server
// takes as absent.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			if value != nil {
				out[key] = withoutNulls(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = withoutNulls(element)
		}
		return out
	default:
		return v
	}
}

// parsed is a document in the form that is evaluated without another copy.
func parsed(doc map[string]any) (ast.Value, error) {
	v, err := ast.InterfaceToValue(doc)
	if err != nil {
		return nil, fmt.Errorf("policy input: %w", err)
	}
	return v, nil
}
