package policies

import (
	"encoding/json"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/internal/plan"
)

// planInput is the plan as policies read it. Its names are a contract of its
// own: a Go field that is renamed elsewhere must not silence a policy, so every
// name is written here and required by input.json.
type planInput struct {
	Cluster   string                   `json:"cluster"`
	Istiod    istiodInput              `json:"istiod"`
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
	in := planInput{Cluster: p.Cluster, Istiod: istiodOf(p.Istiod), Decisions: map[string]decisionInput{}}
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
		Tolerations: []tolerationInput{}, DedicatedPools: []poolInput{}, Triggers: []triggerInput{},
	}
	for _, t := range i.Tolerations {
		in.Tolerations = append(in.Tolerations, tolerationInput(t))
	}
	for _, p := range i.DedicatedPools {
		pool := poolInput{p.Name, map[string]string{}}
		for key, value := range p.Labels {
			pool.Labels[key] = value
		}
		in.DedicatedPools = append(in.DedicatedPools, pool)
	}
	for _, t := range i.Triggers {
		in.Triggers = append(in.Triggers, triggerInput{
			Name: t.Name, Event: t.Event, Query: t.Query, Threshold: t.Threshold,
			Start: t.Start, End: t.End, TimeZone: t.TimeZone, Replicas: t.Replicas,
		})
	}
	return in
}

// document is the whole input, or only its objects where there is no plan.
func document(p *plan.Plan, objects []manifests.Object) (map[string]any, error) {
	listed := make([]any, 0, len(objects))
	for _, o := range objects {
		listed = append(listed, map[string]any{"file": o.File, "object": withoutNulls(o.Object)})
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
