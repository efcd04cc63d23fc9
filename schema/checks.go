package schema

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
)

const maxEvent = 366 * 24 * time.Hour

// checker looks at the rules that span fields. It may see a profile that lost
// fields to the walk: it judges only what is there.
type checker struct {
	*profile.Profile
	refused  map[string]bool // lists, by path, that the walk took out as a whole
	findings diag.List
}

// Consistent reports whether the rules that span fields hold for a profile that was
// made from a loaded one.
func Consistent(p *profile.Profile) bool { return !check(p, nil).HasErrors() }

func check(p *profile.Profile, refused map[string]bool) diag.List {
	c := &checker{Profile: p, refused: refused}
	c.zones()
	c.istiod()
	c.names()
	for i, e := range p.Spec.Events {
		c.event(e, itemPath("spec.events", i))
	}
	c.references()
	c.gateways()
	c.namespaces()
	c.argocd()
	return c.findings
}

func (c *checker) report(id, path, message, hint string) {
	if len(c.findings) >= maxFindings {
		return
	}
	c.findings = append(c.findings, diag.Finding{
		Severity: diag.Error, ID: id, Pos: c.Pos(path), Subject: path, Message: message, Hint: hint,
	})
}

func (c *checker) inconsistent(path, message, hint string) {
	c.report(Inconsistent, path, path+" "+message, hint)
}

func (c *checker) zones() {
	for i, z := range c.Spec.Zones {
		for j, pool := range z.NodePools {
			path := itemPath(itemPath("spec.zones", i)+".nodePools", j) + ".nodes"
			n := pool.Nodes
			if c.allGiven(path, "min", "now", "max") && (n.Min > n.Now || n.Now > n.Max) {
				c.inconsistent(path, fmt.Sprintf("has min %d, now %d and max %d, expected min ≤ now ≤ max", n.Min, n.Now, n.Max), "write what the pool's autoscaler has, and the nodes that run now")
			}
		}
	}
}

// allGiven reports whether the user wrote each field of the mapping at path.
func (c *checker) allGiven(path string, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !c.Given(path + "." + name) })
}

func (c *checker) bounds(path string, low, high int64) {
	if low > high && high > 0 {
		c.inconsistent(path, fmt.Sprintf("has min %d above max %d", low, high), "swap them, or raise max")
	}
}

func (c *checker) istiod() {
	const path = "spec.istiod"
	if c.Given(path + ".memoryModel") {
		c.memoryModel(path + ".memoryModel")
	}
	c.endpointsQuery("spec.metrics.endpoints")
	if r := c.Spec.Istiod.Running; r.MinReplicas != nil && r.MaxReplicas != nil && *r.MinReplicas > *r.MaxReplicas {
		c.inconsistent(path+".running", fmt.Sprintf("has minReplicas %d above maxReplicas %d", *r.MinReplicas, *r.MaxReplicas), "write what the autoscaler has: it takes no floor above its ceiling")
	}
	for i, t := range c.Spec.Istiod.Tolerations {
		at := itemPath(path+".tolerations", i)
		if t.Operator == "Equal" && !c.Given(at+".key") && c.Given(at) {
			c.inconsistent(at, "has no key, which operator Equal needs", "add key, or write operator: Exists")
		}
		if t.Operator == "Exists" && t.Value != "" {
			c.inconsistent(at+".value", "stands beside operator Exists, which takes no value", "leave value out, or write operator: Equal")
		}
	}
}

// endpointsQuery holds the query that connections are weighed by: it is there where
// it is needed, and may stand in the trigger's.
func (c *checker) endpointsQuery(path string) {
	if c.Spec.Istiod.Scaling == "weighted" && !c.Given(path) {
		c.report(MissingField, path, path+" is missing: istiod.scaling weighted weighs connections by endpoints",
			"add endpoints: the PromQL of how many istiod knows, such as '"+usualEndpoints+"' of kube-state-metrics, with this mesh's labels")
	}
	if fault := queryFault(c.Spec.Metrics.Endpoints); fault != "" {
		c.inconsistent(path, fault, "write one whole PromQL expression, as Prometheus' own page would evaluate it")
	}
}

// usualEndpoints counts the addresses that may be called, once each.
const usualEndpoints = `count(count by (namespace, endpointslice, address) (kube_endpointslice_endpoints{ready!="false"}))`

// memoryFields are the fields of the memory model that one kind alone has.
var memoryFields = []struct {
	kind, name, missing string // missing is the hint where the kind needs it
}{
	{"linear", "bytesPerConnectionEndpoint", "add bytesPerConnectionEndpoint: The bytes of one connection for each endpoint that it is told of"},
	{"push", "bytesPerEndpoint", "add bytesPerEndpoint: the bytes of one endpoint at rest, about 810"},
	{"push", "messageBytesPerEndpoint", "add messageBytesPerEndpoint: the bytes of one endpoint in the message to a proxy, about 73"},
	{"push", "heapGrowth", ""},
	{"push", "visibleShare", ""},
	{"push", "bytesPerWaitingMessage", ""},
}

func (c *checker) memoryModel(path string) {
	m := c.Spec.Istiod.MemoryModel
	if r := m.FittedEndpoints; r != nil && c.allGiven(path+".fittedEndpoints", "min", "max") {
		c.bounds(path+".fittedEndpoints", r.Min, max(r.Max, 0))
	}
	for _, f := range memoryFields {
		at := path + "." + f.name
		switch given := c.Given(at); {
		case given && f.kind != m.Kind:
			c.inconsistent(at, fmt.Sprintf("is of kind %s, and the model is of kind %s", f.kind, m.Kind), "leave it out, or write kind: "+f.kind)
		case !given && f.kind == m.Kind && f.missing != "":
			c.report(MissingField, at, at+" is missing", f.missing)
		}
	}
	if m.Kind == "push" {
		c.pushModel(m, path)
	}
}

// pushModel holds what the law of the push needs besides its fields: a
// connection that costs something at rest, and scopes where a proxy sees less.
func (c *checker) pushModel(m profile.MemoryModel, path string) {
	if m.BytesPerConnection.Sign() <= 0 {
		c.inconsistent(path+".bytesPerConnection", "is 0, and under kind push a connection costs something at rest", "give the bytes of one connection, about 30000")
	}
	if m.VisibleShare.Cmp(big.NewRat(1, 1)) < 0 && !m.Scoped {
		c.inconsistent(path+".visibleShare", "is below 1, and scoped is false: without Sidecars a proxy sees every endpoint", "leave it out, or write scoped: true where the model was fitted under Sidecars")
	}
}

// names finds names that stand twice in a list that is keyed by them.
func (c *checker) names() {
	s := c.Spec
	for i, z := range s.Zones {
		path := itemPath("spec.zones", i) + ".nodePools"
		unique(c, path, z.NodePools, func(p profile.NodePool) string { return p.Name })
	}
	unique(c, "spec.zones", s.Zones, func(z profile.Zone) string { return z.Name })
	unique(c, "spec.events", s.Events, func(e profile.Event) string { return e.Name })
	unique(c, "spec.namespaces", s.Namespaces, func(n profile.Namespace) string { return n.Name })
	unique(c, "spec.services", s.Services, serviceName)
	unique(c, "spec.gateways", s.Gateways, func(g profile.Gateway) string { return joined(g.Namespace, g.Name) })
}

func serviceName(s profile.Service) string { return joined(s.Namespace, s.Name) }

// joined is namespace/name, or empty when a part was lost to the walk.
func joined(namespace, name string) string {
	if namespace == "" || name == "" {
		return ""
	}
	return namespace + "/" + name
}

func unique[T any](c *checker, path string, items []T, name func(T) string) {
	first := map[string]int{}
	for i, item := range items {
		n := name(item)
		if n == "" {
			continue
		}
		j, twice := first[n]
		if !twice {
			first[n] = i
			continue
		}
		at := itemPath(path, i) + ".name"
		c.report(DuplicateName, at, fmt.Sprintf("%s is %q, as on line %d", at, n, c.Pos(itemPath(path, j)+".name").Line), "each name stands once")
	}
}

func (c *checker) event(e profile.Event, path string) {
	dated := c.Given(path+".start") || c.Given(path+".end")
	weekly := c.Given(path + ".weekly")
	switch {
	case dated && weekly:
		c.inconsistent(path, "has both start and end and weekly", "keep one: an event is dated or weekly")
	case !dated && !weekly:
		c.inconsistent(path, "has neither start and end nor weekly", "say when it takes place")
	case dated && !c.allGiven(path, "start", "end"):
		c.inconsistent(path, "has only one of start and end", "a dated event has both")
	}
	c.eventLoad(e, path)
	switch {
	case e.Weekly != nil && weekly:
		c.weekly(e, path)
	case e.Start != nil && e.End != nil:
		c.dated(e, path)
	}
}

func (c *checker) eventLoad(e profile.Event, path string) {
	load, multiplier := c.Given(path+".load"), c.Given(path+".multiplier")
	switch {
	case load && multiplier:
		c.inconsistent(path, "has both load and multiplier", "keep one")
	case !load && !multiplier:
		c.inconsistent(path, "has neither load nor multiplier", "say how much load it brings, such as multiplier: {connections: 2, endpoints: 1.5}")
	}
	for _, name := range []string{"load", "multiplier"} {
		at := path + "." + name
		if c.Given(at) && !c.Given(at+".connections") && !c.Given(at+".endpoints") && (e.Load != nil || e.Multiplier != nil) {
			c.inconsistent(at, "names neither connections nor endpoints", "name at least one of them")
		}
	}
}

func (c *checker) dated(e profile.Event, path string) {
	length := e.End.Sub(e.Start.Time)
	switch {
	case length <= 0:
		c.inconsistent(path+".end", fmt.Sprintf("is %s, not after the start %s", e.End.Format(time.RFC3339), e.Start.Format(time.RFC3339)), "end the event after it starts")
		return
	case length > maxEvent:
		c.inconsistent(path+".end", fmt.Sprintf("is %d days after the start, expected at most %d", int(length.Hours()/24), int(maxEvent.Hours()/24)), "raise the load at rest instead")
	}
	c.ramp(e, path, length)
}

func (c *checker) ramp(e profile.Event, path string, length time.Duration) {
	if e.Ramp.Duration > length {
		c.inconsistent(path+".ramp", fmt.Sprintf("is %s, longer than the event's %s", e.Ramp.Duration, length), "let the climb end with the event at the latest")
	}
}

func (c *checker) weekly(e profile.Event, path string) {
	w := e.Weekly
	seen := map[string]bool{}
	for i, day := range w.Days {
		if day != "" && seen[day] {
			c.report(DuplicateName, itemPath(path+".weekly.days", i), fmt.Sprintf("%s stands twice in %s.weekly.days", day, path), "keep one")
		}
		seen[day] = true
	}
	if w.Start == "" || w.End == "" {
		return
	}
	length := minutes(w.End) - minutes(w.Start)
	if length == 0 {
		c.inconsistent(path+".weekly.end", fmt.Sprintf("is %s, as the start", w.End), "for a whole day write start: \"00:00\", end: \"24:00\"")
		return
	}
	if length < 0 {
		length += 24 * 60
	}
	c.ramp(e, path, time.Duration(length)*time.Minute)
}

// minutes reads HH:MM, which the shape has judged.
func minutes(hhmm string) int {
	return 600*int(hhmm[0]-'0') + 60*int(hhmm[1]-'0') + 10*int(hhmm[3]-'0') + int(hhmm[4]-'0')
}

// names of one kind that fields may refer to.
type names struct {
	kind   string
	known  map[string]bool
	sorted []string
}

// maxNearest bounds the search for names that were meant: one is linear in the
// names, and so many mistakes have one cause.
const maxNearest = 100

// known collects names; a list from which one was lost refuses nothing.
func known[T any](kind string, items []T, name func(T) string) names {
	set := names{kind: kind, known: map[string]bool{}}
	for _, item := range items {
		n := name(item)
		if n == "" {
			return names{kind: kind}
		}
		set.known[n] = true
	}
	set.sorted = slices.Sorted(maps.Keys(set.known))
	return set
}

// has reports whether there is such a name, or cannot say that there is none.
func (n names) has(name string) bool { return name == "" || n.known == nil || n.known[name] }

func (c *checker) refer(path, name string, to names) {
	if to.has(name) {
		return
	}
	c.unknown(path, fmt.Sprintf("%s is %q", path, name), name, to)
}

func (c *checker) unknown(path, says, name string, to names) {
	c.report(UnknownReference, path, fmt.Sprintf("%s, which is no %s of this profile", says, to.kind), c.meant(name, to))
}

func (c *checker) meant(name string, to names) string {
	if len(c.findings) < maxNearest {
		if near, ok := nearest(name, to.sorted); ok {
			return fmt.Sprintf("did you mean %s?", near)
		}
	}
	switch n := len(to.sorted); {
	case n == 0:
		return fmt.Sprintf("the profile lists no %s", to.kind)
	case n <= 12:
		return "the profile lists " + strings.Join(to.sorted, ", ")
	default:
		return fmt.Sprintf("list it first, or name one of the %d that the profile lists", n)
	}
}

func (c *checker) references() {
	s := c.Spec
	services := known("service", s.Services, serviceName)
	namespaces := known("namespace", s.Namespaces, func(n profile.Namespace) string { return n.Name })
	zones := known("zone", s.Zones, func(z profile.Zone) string { return z.Name })
	events := known("event", s.Events, func(e profile.Event) string { return e.Name })
	for path, set := range map[string]*names{"spec.services": &services, "spec.namespaces": &namespaces, "spec.zones": &zones, "spec.events": &events} {
		if c.refused[path] || !c.Given(path) && path != "spec.events" { // it has its finding
			set.known = nil
		}
	}
	for i, service := range s.Services {
		path := itemPath("spec.services", i)
		c.refer(path+".namespace", service.Namespace, namespaces)
		for j, call := range service.Calls {
			c.refer(itemPath(path+".calls", j), call, services)
		}
		for j, call := range service.ObservedCalls {
			c.refer(itemPath(path+".observedCalls", j), call, services)
		}
		referKeys(c, path+".endpoints", service.Endpoints, zones)
		referKeys(c, path+".clients", service.Clients, zones)
		referKeys(c, path+".events", service.Events, events)
		c.service(service, path)
	}
}

func referKeys[V any](c *checker, path string, m map[string]V, to names) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !to.has(key) {
			c.unknown(fieldPath(path, key), fmt.Sprintf("%s has the key %q", path, key), key, to)
		}
	}
}

func (c *checker) service(s profile.Service, path string) {
	c.bounds(path+".replicas", s.Replicas.Min, s.Replicas.Max)
	total := int64(0)
	for _, n := range s.Endpoints {
		total += n
	}
	sound := c.Given(path+".endpoints") && c.allGiven(path+".replicas", "min", "max") && s.Replicas.Max > 0
	if sound && s.Replicas.Min <= s.Replicas.Max && (total < s.Replicas.Min || total > s.Replicas.Max) {
		c.inconsistent(path+".endpoints", fmt.Sprintf("sum to %d, outside the replicas %d to %d", total, s.Replicas.Min, s.Replicas.Max), "count the endpoints at rest, or correct the replicas")
	}
	c.clients(s, path)
}

func (c *checker) clients(s profile.Service, path string) {
	if len(s.Clients) == 0 {
		return
	}
	sum := new(big.Rat)
	for _, share := range s.Clients {
		sum.Add(sum, &share.Rat)
	}
	if sum.Cmp(big.NewRat(1, 1)) != 0 {
		c.inconsistent(path+".clients", fmt.Sprintf("sum to %s, expected exactly 1", profile.Exact(sum)), "give each zone's share of the calls, such as 0.5 and 0.5")
	}
}

func (c *checker) gateways() {
	var pools []profile.NodePool
	for _, z := range c.Spec.Zones {
		pools = append(pools, z.NodePools...)
	}
	all := known("node pool", pools, func(p profile.NodePool) string { return p.Name })
	if c.refused["spec.zones"] {
		all.known = nil
	}
	for i, g := range c.Spec.Gateways {
		path := itemPath("spec.gateways", i)
		c.refer(path+".nodePool", g.NodePool, all)
		c.bounds(path+".replicas", g.Replicas.Min, g.Replicas.Max)
	}
}

func (c *checker) namespaces() {
	for i, n := range c.Spec.Namespaces {
		path := itemPath("spec.namespaces", i) + ".sidecarScope"
		if n.SidecarScope.Rollout == "canary" && !c.Given(path+".canary") {
			c.inconsistent(path, "has rollout canary and names no canary", "add canary: the workload that tries the scope")
		}
	}
}

// argocd judges what Argo CD would refuse, or would find nothing by.
func (c *checker) argocd() {
	const path = "spec.argocd"
	a := c.Spec.ArgoCD
	for i, n := range c.Spec.Namespaces {
		if n.ArgoCD != nil && !c.Given(path) {
			c.inconsistent(itemPath("spec.namespaces", i)+".argocd", "is given, and spec.argocd is not", "add spec.argocd: it says in which repository the folder is")
		}
	}
	if a == nil {
		return
	}
	if c.allGiven(path+".destination", "server", "name") {
		c.inconsistent(path+".destination", "has both server and name", "keep one: Argo CD refuses both")
	}
	if a.Chart.Version != "" && c.Spec.Istio.Version != "" && !strings.HasPrefix(a.Chart.Version, c.Spec.Istio.Version+".") {
		c.inconsistent(path+".chart.version", fmt.Sprintf("is %s, and spec.istio.version is %s", a.Chart.Version, c.Spec.Istio.Version), "write a chart of the minor that the plan is for; an upgrade changes both")
	}
	if len(c.Spec.Istiod.Values) > 0 && !c.Given(path+".profile") {
		c.report(MissingField, path+".profile", path+".profile is missing", "add profile: the folder of the repository that this profile lies in, for spec.istiod.values are read from there")
	}
}
