package plan

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/hints"
	"github.com/meshgen/meshgen/internal/profile"
)

// routes decides for every Service whether its calls stay in their zone. The
// field is added only where all of S1 to S9 hold; one that runs is taken away
// only where F, stranded endpoints or the loss of a zone fails; the annotation of topology hints always goes.
func (b *builder) routes() {
	r := newRouter(b)
	for i, s := range b.spec().Services {
		if serves(s) && !b.full() {
			r.route(i)
		}
	}
	slices.SortFunc(b.plan.Routes, func(x, y Route) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
}

// router is what the Services of one cluster share.
type router struct {
	*builder
	names      []string // of the zones
	open       []int    // zones with nodes that pods without tolerations may use
	parameters []Term
	formulas   map[string]string // arguments of functions over zones, by the names of their terms
	hints      hinted
}

func newRouter(b *builder) *router {
	r := &router{builder: b, open: b.sharedZones(), formulas: map[string]string{}, hints: hinted{allocators: map[string]*hints.Allocator{}, known: map[string]spectrum{}}}
	for _, z := range b.spec().Zones {
		r.names = append(r.names, z.Name)
	}
	z := b.spec().Mesh.ZoneRouting
	const path = "spec.mesh.zoneRouting."
	for _, t := range []Term{
		{Name: "Z", Value: big.NewRat(int64(len(r.open)), 1), Unit: "zones", From: "spec.zones"},
		{Name: "Umax", Value: &z.MaxUtilization.Rat, From: path + "maxUtilization"},
		{Name: "Fmax", Value: &z.MaxOverload.Rat, Unit: "× the mean", From: path + "maxOverload"},
		{Name: "podsLost", Value: big.NewRat(z.PodsLost, 1), Unit: "pods", From: path + "podsLost"},
		{Name: "T", Value: &z.TargetUtilization.Rat, From: path + "targetUtilization"},
	} {
		t.Default = !b.profile.Given(t.From)
		r.parameters = append(r.parameters, t)
	}
	return r
}

// routed is one Service on the way to its decision.
type routed struct {
	*router
	profile.Service
	index   int // in the profile's list
	path    string
	d       *derivation
	q       []*big.Rat // share of the calls by zone; nil where the profile does not say
	now     []int64    // endpoints by zone
	moments []moment
	placed  bool // the moments' counts are guaranteed by a hard zone constraint
	worst   fullest
	rules   []rule
	writer  hints.Writer // of the hints that run today
	left    bool         // the field stays as it is, and nothing is written
	today   todays       // of topology hints
}

func (r *router) route(i int) {
	s := &routed{router: r, Service: r.spec().Services[i], index: i, path: servicePath(i), d: &derivation{terms: make([]Term, 0, 48)}}
	s.writer = hints.WrittenBy(map[string]string{annotationMode: s.Routing.TopologyMode}, s.Routing.TrafficDistribution)
	s.inputs()
	s.inNone()
	s.place()
	s.fullest()
	s.judge()
	if s.writer == hints.Annotation {
		s.topologyHints()
	}
	s.settle()
}

const annotationMode = "service.kubernetes.io/topology-mode"

func (s *routed) subject() string {
	return Route{Namespace: s.Namespace, Name: s.Name}.Subject()
}

// inputs are the Service's counts and shares by zone, and what it must keep to.
func (s *routed) inputs() {
	for z, name := range s.names {
		s.now = append(s.now, s.Endpoints[name])
		if len(s.Clients) > 0 {
			share := s.Clients[name]
			s.q = append(s.q, &share.Rat)
			s.d.input(Term{Name: zoned("q", z), Value: &share.Rat, From: s.path + ".clients." + name})
		}
	}
	for z, name := range s.names {
		s.d.input(Term{Name: zoned("n", z), Value: big.NewRat(s.now[z], 1), Unit: "endpoints", From: s.path + ".endpoints." + name})
	}
	s.d.input(Term{Name: "Nmin", Value: big.NewRat(s.Replicas.Min, 1), Unit: "replicas", From: s.path + ".replicas.min"})
	for _, t := range s.parameters {
		if t.Name == "T" && s.Autoscaling.CPUUtilization != nil {
			t = Term{Name: "T", Value: big.NewRat(*s.Autoscaling.CPUUtilization, 100), From: s.path + ".autoscaling.cpuUtilization"}
		}
		s.d.input(t)
	}
	if s.sized() {
		s.d.input(Term{Name: "peak", Value: &s.Capacity.Peak.Rat, Unit: s.Capacity.Unit, From: s.path + ".capacity.peak"})
		s.d.input(Term{Name: "perEndpoint", Value: &s.Capacity.PerEndpoint.Rat, Unit: s.Capacity.Unit, From: s.path + ".capacity.perEndpoint"})
	}
}

// sized reports whether the profile says what an endpoint can do.
func (s *routed) sized() bool { return s.Capacity != nil && s.Capacity.PerEndpoint.Sign() > 0 }

// zoned is the name of a term of one zone: zones count from 1, in the profile's order.
func zoned(name string, zone int) string { return name + strconv.Itoa(zone+1) }

// arguments are the terms of every zone, in a row for each zone, as the functions
// over zones take them.
func (r *router) arguments(names ...string) string {
	key := strings.Join(names, " ")
	if known, ok := r.formulas[key]; ok {
		return known
	}
	var all []string
	for z := range r.names {
		for _, name := range names {
			if name != "N" { // all endpoints, whatever the zone
				name = zoned(name, z)
			}
			all = append(all, name)
		}
	}
	r.formulas[key] = strings.Join(all, ", ")
	return r.formulas[key]
}

// counts adds the endpoints of each zone as terms of that name.
func (s *routed) counts(name string, n []int64) {
	for z := range n {
		s.d.found(zoned(name, z), n[z], "endpoints", "")
	}
}

// inNone are the numbers of today's endpoints: calls to all of them, and every
// call in its zone.
func (s *routed) inNone() {
	if s.q == nil || total(s.now) == 0 {
		return
	}
	s.d.set("N", strings.ReplaceAll(s.arguments("n"), ", ", " + "), "endpoints")
	s.d.set("crossZoneNone", "crossZone("+s.arguments("q", "N", "n")+")", "of the calls")
	s.d.set("FNow", "overload("+s.arguments("q", "n")+")", "× the mean")
	s.d.set("strandedNow", "stranded("+s.arguments("q", "n")+")", "endpoints")
	s.d.set("crossZoneNow", "crossZone("+s.arguments("q", "n", "n")+")", "of the calls")
}

func total(n []int64) int64 {
	sum := int64(0)
	for _, x := range n {
		sum += x
	}
	return sum
}

// settle makes the decision of what the rules say.
func (s *routed) settle() {
	failed, unproven := named(s.rules, fails), named(s.rules, unproven)
	s.d.text("failed", listed(failed))
	s.d.text("unproven", listed(unproven))
	runs := s.Routing.TrafficDistribution
	value, why := fieldValue(s.spec().Kubernetes.Version, s.spec().Istio.Version, s.Routing.Callers)
	reason := ""
	read := value != ""
	open := len(failed) > 0 || len(unproven) > 0 || !read
	switch {
	case s.writer == hints.Field && s.harmful():
		value, reason = "", summary(s.rules, fails)
	case s.writer == hints.Field && open:
		s.left = true
		value, reason = runs, fmt.Sprintf("%s is left as it runs: no number speaks for taking it away, and %s", runs, s.missing(why))
		s.unprovenFinding(why)
	case open:
		value, reason = "", s.missing(why)
	default:
		reason = s.holdsReason(why)
		if runs == "PreferSameNode" {
			reason += "; no constraint promises a pod on every node, which PreferSameNode needs"
		}
	}
	if value != "" && read {
		s.local[s.Namespace+"/"+s.Name] = true
	}
	s.write(value, reason)
}

// harmful reports whether a number fails for which a field that runs is taken
// away: F and stranded endpoints (S6), or the loss of a zone (S8). The other
// rules keep it from being added.
func (s *routed) harmful() bool {
	return slices.ContainsFunc(s.rules, func(r rule) bool { return r.result == fails && (r.name == "S6" || r.name == "S8") })
}

// holdsReason is why the field is safe: all rules hold, so that a place is
// guaranteed and the fullest endpoint is known.
func (s *routed) holdsReason(version string) string {
	fewest, _ := find(s.d.terms, "m")
	return fmt.Sprintf("%s guaranteed in each of %d zones, and the fullest endpoint carries at most %s × the mean; %s",
		areOf(fewest.Value.Num().Int64(), "pod"), len(s.open), number(s.worst.factor, 3), version)
}

func areOf(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return plural(n, noun) + " are"
}

// missing is what stands between the Service and the field.
func (s *routed) missing(version string) string {
	for _, r := range []result{fails, unproven} {
		if text := summary(s.rules, r); text != "" {
			return text
		}
	}
	return version
}

// write adds the decision, and the Route where something must be written.
func (s *routed) write(value, reason string) {
	subject := s.subject()
	runs := s.Routing.TrafficDistribution
	if s.writer == hints.Annotation {
		s.hintsFinding(subject, value)
		if value == "" {
			reason = "no zone routing instead: " + reason
		}
		reason = "the annotation of topology hints goes; " + reason
		if value == "" && runs != "" {
			reason += fmt.Sprintf("; trafficDistribution %s, which would take effect without the annotation, goes with it", runs)
		}
	}
	if value == "" && runs != "" && s.writer == hints.Field {
		s.runningUnsafe(subject, runs, sayings(s.rules, fails), "", s.path+".routing.trafficDistribution")
	}
	d := Decision{
		Subject: subject, Unit: "spec.trafficDistribution", Reason: reason,
		Source:  "k8s.io/endpointslice v0.37.2; kube-proxy and Istio keep calls in a zone as long as it has one endpoint",
		Running: s.running(value),
	}
	if value != "" {
		d.Value = value
	}
	s.decide(s.d, d, s.path+".routing")
	if !s.left && (value != "" || runs != "" || s.writer == hints.Annotation) {
		s.plan.Routes = append(s.plan.Routes, Route{Namespace: s.Namespace, Name: s.Name, TrafficDistribution: value, Reason: reason})
	}
}

// running judges what keeps the calls in their zone today; nil where nothing does.
func (s *routed) running(planned string) *Running {
	switch s.writer {
	case hints.Annotation:
		return s.today.running()
	case hints.Field:
		r := &Running{Value: s.Routing.TrafficDistribution, Verdict: Safe, Terms: s.copied("F", "FNow", "stranded", "strandedNow", "crossZone", "crossZoneNow", "FWorst", "FWorst")}
		switch {
		case s.harmful():
			r.Verdict = Unsafe
		case s.Routing.TrafficDistribution == planned:
			r.Verdict = Same
		}
		return r
	}
	return nil
}

// copied are terms of what runs that equal terms of the decision: pairs of the
// new name and the one that is there, if it is.
func (s *routed) copied(pairs ...string) []Term {
	var terms []Term
	for i := 0; i < len(pairs); i += 2 {
		if t, ok := find(s.d.terms, pairs[i+1]); ok {
			terms = append(terms, Term{Name: pairs[i], Value: t.Value, Unit: t.Unit})
		}
	}
	return terms
}

func (s *routed) unprovenFinding(version string) {
	says, hint := version, "nothing is taken away"
	if all := strings.TrimPrefix(sayings(s.rules, fails)+"; "+sayings(s.rules, unproven), "; "); all != "" {
		says = strings.TrimSuffix(all, "; ")
	}
	if r := remedies(s.rules); r != "" {
		hint += "; to prove it: " + r
	}
	s.find(diag.Finding{
		Severity: diag.Warning, ID: "plan/zone-routing-unproven", Subject: s.subject(),
		Message: fmt.Sprintf("%s/%s keeps trafficDistribution %s although not all is proven: %s", s.Namespace, s.Name, s.Routing.TrafficDistribution, says),
		Hint:    hint,
	}, s.path+".routing.trafficDistribution")
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
