// Package plan holds every decision that meshgen makes, as data: subject,
// value, unit, the terms it came from and the reason. Build is pure: it reads a
// validated profile and never a file, a clock or a cluster. How a decision is
// laid out in Helm values or in a resource is the generators' business.
package plan

import (
	"fmt"
	"math/big"
	"time"

	"github.com/meshgen/meshgen/internal/calendar"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/sizing"
)

// Plan is what meshgen decided for one cluster, and the facts of the profile
// that those who come after need to lay it out and to judge it.
type Plan struct {
	Cluster   string
	Decisions []Decision
	Findings  diag.List
	Events    []Event // in the profile's order
	Istiod    Istiod
	Workloads []Workload // that are patched or scaled, by namespace and name
	Routes    []Route    // Services whose zone routing is written, by namespace and name
	Scopes    []Scope    // Sidecar scopes, by namespace and name
	Bases     Bases
	Freezes   []Freeze // of dated events, in the profile's order
	ArgoCD    *ArgoCD  // nil where nothing is written for it
}

// Event is an event of the profile: when it is, and by how much it multiplies the
// mesh at rest.
type Event struct {
	When                   calendar.Event
	Ramp                   time.Duration
	Connections, Endpoints *big.Rat
}

// Decision is one value with its derivation. Value is an int64, a string, a
// []string, or nil where meshgen decided to write nothing.
type Decision struct {
	Subject string
	Value   any
	Unit    string
	Terms   []Term
	Reason  string // one sentence: why this value
	Source  string // the formula's source, a section of docs
	Running *Running
	Pos     diag.Pos // the field that the decision answers to
}

// Term is a named number of a derivation, after those that it is computed from.
type Term struct {
	Name    string
	Value   *big.Rat // nil when Text holds the value
	Text    string   // a name or a word ("memory")
	Unit    string
	Formula string // over earlier terms, in the syntax of package formula; empty for an input
	From    string // of an input: the profile's field, or the decision that it is
	Default bool   // an input that the profile left to its default
	Note    string // of a search: what was searched for
}

// Running is what the cluster runs today for a decision, judged.
type Running struct {
	Value   any
	Verdict Verdict
	Terms   []Term
}

// Verdict is the judgement on a running value.
type Verdict string

// Unsafe fails a condition of the decision's formula; Same equals the planned
// value; Safe differs and holds.
const (
	Unsafe Verdict = "unsafe"
	Same   Verdict = "same"
	Safe   Verdict = "safe"
)

// Istiod is the facts of the profile about the control plane that are laid out
// or judged as they are, without arithmetic.
type Istiod struct {
	Deployment        string // istiod, or istiod-<revision>
	Namespace         string
	Revision          string
	Version           string // Istio minor
	KubernetesVersion string // minor
	CPU               string // limit and request, a quantity of whole cores
	Memory            string // limit and request, a quantity
	Zones             int64  // zones that istiod's pods may use
	Nodes             int64  // nodes that istiod's pods may use, as many as there are now
	HardZoneSpread    bool   // survive: zone relies on it
	PriorityClass     string
	Tolerations       []Toleration
	DedicatedPools    []DedicatedPool
	ValuesFiles       []string // the user's Helm values, relative to the profile's folder
	ServerAddress     string   // Prometheus
	AuthenticationRef *AuthenticationRef
	Triggers          []Trigger
}

// Toleration is a pod's leave to stand on tainted nodes.
type Toleration struct{ Key, Operator, Value, Effect string }

// AuthenticationRef names a KEDA TriggerAuthentication.
type AuthenticationRef struct{ Name, Kind string }

// DedicatedPool is a node pool that istiod must keep off: tainted for others.
type DedicatedPool struct {
	Name   string
	Labels map[string]string // those that no pool open to istiod carries
}

// Trigger is one KEDA trigger, in the order in which it must stay: KEDA's
// metric names count from the trigger's index.
type Trigger struct {
	Name      string // an identifier, [A-Za-z_][A-Za-z0-9_]*
	Event     string // empty for the connection trigger
	Query     string // PromQL of a prometheus trigger; empty for cron
	Threshold int64  // of a prometheus trigger
	Start     string // cron, five fields
	End       string
	TimeZone  string
	Replicas  int64          // asked for while active; 0 for the connection trigger
	Weight    *sizing.Weight // of a connection, by the connection trigger; nil where connections count alone
	Reason    string
}

// Decision returns the decision with that subject; ok is false when there is none.
func (p *Plan) Decision(subject string) (d Decision, ok bool) {
	for _, d := range p.Decisions {
		if d.Subject == subject {
			return d, true
		}
	}
	return Decision{}, false
}

// Int is the whole value of a decision. A plan without errors holds every
// istiod decision, so a miss is our failure.
func (p *Plan) Int(subject string) (int64, error) {
	d, _ := p.Decision(subject)
	n, ok := d.Value.(int64)
	if !ok {
		return 0, fmt.Errorf("plan of %s: %s is %v, not a whole number", p.Cluster, subject, d.Value)
	}
	return n, nil
}

// Text is the string value of a decision.
func (p *Plan) Text(subject string) (string, error) {
	d, _ := p.Decision(subject)
	s, ok := d.Value.(string)
	if !ok {
		return "", fmt.Errorf("plan of %s: %s is %v, not a string", p.Cluster, subject, d.Value)
	}
	return s, nil
}
