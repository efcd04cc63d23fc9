package schema_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/schema"
)

func load(t testing.TB, fsys fs.FS, file string) *profile.Profile {
	t.Helper()
	p, findings := schema.Load(fsys, file)
	if len(findings) > 0 {
		t.Fatalf("%s: %v", file, findings)
	}
	return p
}

func TestExamplesLoadUnchanged(t *testing.T) {
	for _, name := range []string{"bigsale", "featureflag", "boutique"} {
		if p := load(t, os.DirFS("../examples/clusters"), name+"/profile.yaml"); p.Metadata.Name != name {
			t.Errorf("%s is loaded as %s", name, p.Metadata.Name)
		}
	}
}

func TestBigsaleIsDecoded(t *testing.T) {
	p := load(t, os.DirFS("../examples/clusters"), "bigsale/profile.yaml")
	type values struct {
		PoolCPU, Memory, Headroom, Multiplier, Share string
		Start                                        time.Time
		Ramp                                         time.Duration
		Nodes                                        profile.Nodes
		Running                                      int64
		Survive, HPA                                 string
	}
	event, service := p.Spec.Events[0], p.Spec.Services[0]
	got := values{
		PoolCPU:    p.Spec.Zones[0].NodePools[0].AllocatableCPU.RatString(),
		Memory:     p.Spec.Istiod.Resources.Memory.RatString(),
		Headroom:   p.Spec.Istiod.Headroom.RatString(),
		Multiplier: p.Spec.Events[1].Multiplier.Connections.RatString(),
		Share:      profile.Exact(&[]profile.Decimal{service.Clients["ap-northeast-2a"]}[0].Rat),
		Start:      event.Start.UTC(),
		Ramp:       event.Ramp.Duration,
		Nodes:      p.Spec.Zones[1].NodePools[1].Nodes,
		Running:    *p.Spec.Istiod.Running.MinReplicas,
		Survive:    p.Spec.Istiod.Survive.Mode,
		HPA:        service.Autoscaling.Running.HPA,
	}
	want := values{
		PoolCPU: "1589/100", Memory: "838860800", Headroom: "17/20", Multiplier: "6/5", Share: "0.5",
		Start: time.Date(2026, 12, 19, 8, 0, 0, 0, time.UTC), Ramp: 20 * time.Minute,
		Nodes: profile.Nodes{Min: 4, Now: 4, Max: 4}, Running: 24, Survive: "zone", HPA: "cart",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
}

func TestPositionsAreOfKeysAndItems(t *testing.T) {
	p := load(t, os.DirFS("../examples/clusters"), "bigsale/profile.yaml")
	for path, want := range map[string]string{
		"spec":                                    "6:1",
		"spec.kubernetes.version":                 "8:5",
		"spec.zones[0]":                           "10:7",
		"spec.zones[0].nodePools[0].nodes":        "12:27",
		"spec.events[0].start":                    "56:7",
		"spec.services[0].events.big-sale":        "83:16",
		"spec.services[1].calls[1]":               "92:26",
		"spec.services[1].calls[7]":               "92:7",
		"spec.istiod.nodeReady":                   "48:5",
		"spec.services[0].endpoints.other.zone-a": "78:7",
	} {
		pos := p.Pos(path)
		if got := fmt.Sprintf("%d:%d", pos.Line, pos.Column); got != want || pos.File != "bigsale/profile.yaml" {
			t.Errorf("%s stands at %v, want %s", path, pos, want)
		}
	}
	if p.Given("spec.istiod.reconnectCost") || !p.Given("spec.istiod.headroom") {
		t.Error("a default counts as given, or a given value as default")
	}
}

func TestDefaultsFillWhatIsLeftOut(t *testing.T) {
	p := load(t, os.DirFS("testdata"), "minimal.yaml")
	s := p.Spec
	got := fmt.Sprint(
		s.Kubernetes.ClusterDomain, " ", s.Kubernetes.Rebalancer, " ", s.Istio.Namespace, " ", s.Istio.DataPlane, " ",
		s.Mesh.OutboundTrafficPolicy, " ", s.Mesh.CallGraph, " ", s.Metrics.ScrapeInterval, " ", s.Metrics.ServerAddress, " ",
		s.Istiod.Headroom.RatString(), " ", s.Istiod.Survive.Mode, " ", s.Istiod.RebalanceWithin, " ", s.Istiod.PodReady, " ",
		s.Istiod.NodeReady, " ", s.Istiod.ReconnectCost.RatString(), " ", s.Istiod.UnplannedSurge.RatString(), " ",
		s.Istiod.HoldUnscaled, " ", s.Istiod.AllowLowerFloor, " ", s.Istiod.PriorityClassName, " ",
		s.Istiod.MemoryModel.Residual.RatString(), " ", s.Istiod.MemoryModel.Scoped, " ", s.Events[0].Ramp, " ",
		s.Namespaces[0].MTLS, " ", s.Namespaces[0].SidecarScope, " ", s.Services[0].SelfCalls, " ", s.Services[0].Autoscaling.ManagedBy)
	want := "cluster.local none istio-system sidecar unknown partial 30s  17/20 zone 20m0s 1m0s 2m0s 1/5 3/2 true false " +
		"system-cluster-critical 1/20 false 0s unknown {namespace report } true none"
	if got != want {
		t.Errorf("defaults\n got %s\nwant %s", got, want)
	}
}

func TestOneZoneSurvivesAPod(t *testing.T) {
	base, err := os.ReadFile("testdata/minimal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(base), "    - name: zone-b\n")
	_, rest, _ = strings.Cut(rest, "  istio:")
	text := strings.ReplaceAll(head+"  istio:"+rest, "zone-a: 1, zone-b: 1", "zone-a: 2")
	p := load(t, fstest.MapFS{"profile.yaml": {Data: []byte(text)}}, "profile.yaml")
	if p.Spec.Istiod.Survive.Mode != "pod" {
		t.Errorf("survive is %s", p.Spec.Istiod.Survive.Mode)
	}
}

func TestUnreadableFilesAreFindings(t *testing.T) {
	fsys := fstest.MapFS{
		"large.yaml": {Data: bytes.Repeat([]byte("#"), schema.MaxSize+1)},
		"dir.yaml":   {Mode: fs.ModeDir},
		"pipe.yaml":  {Mode: fs.ModeNamedPipe},
		"large.cue":  {Data: bytes.Repeat([]byte("/"), schema.MaxSize+1)},
	}
	for file, want := range map[string]string{
		"large.yaml": schema.TooLarge, "large.cue": schema.TooLarge,
		"dir.yaml": schema.Unreadable, "pipe.yaml": schema.Unreadable, "none.yaml": schema.Unreadable, "../up.cue": schema.Unreadable,
	} {
		p, findings := schema.Load(fsys, file)
		if p != nil || len(findings) != 1 || findings[0].ID != want || findings[0].File != file {
			t.Errorf("%s: %v", file, findings)
		}
	}
}

func TestWhatCannotBeReadIsSaidWithoutTheCallThatMetIt(t *testing.T) {
	const module = "module: \"example.com/fleet\"\nlanguage: version: \"v0.13.0\"\n"
	fsys := unreadable{fstest.MapFS{
		"cue.mod/module.cue": {Data: []byte(module)},
		"eu/profile.cue":     {Data: []byte("package eu\n")},
		"eu/locked.cue":      {Data: []byte("package eu\n")},
		"kr/locked.yaml":     {},
	}}
	for file, want := range map[string]string{
		"none.yaml":      "the file cannot be read: none.yaml: file does not exist",
		"kr/locked.yaml": "the file cannot be read: kr/locked.yaml: permission denied",
		"eu/profile.cue": "the CUE does not evaluate: eu/locked.cue: permission denied",
	} {
		for _, loader := range []*schema.Loader{{}, {Evaluator: newEvaluator(t)}} {
			_, findings := loader.Load(fsys, file)
			if len(findings) != 1 || findings[0].Message != want {
				t.Errorf("%s: %v, want %q", file, findings, want)
			}
		}
	}
}

// unreadable is a file system that opens no file called locked.
type unreadable struct{ fstest.MapFS }

func (u unreadable) Open(name string) (fs.File, error) {
	if strings.HasPrefix(path.Base(name), "locked.") {
		return nil, &fs.PathError{Op: "openat", Path: name, Err: fs.ErrPermission}
	}
	return u.MapFS.Open(name)
}

func TestLoadsRunBesideEachOther(t *testing.T) {
	var group sync.WaitGroup
	for _, name := range []string{"bigsale", "featureflag", "boutique", "bigsale", "boutique", "featureflag"} {
		group.Go(func() {
			p, findings := schema.Load(os.DirFS("../examples/clusters"), name+"/profile.yaml")
			if p == nil || p.Metadata.Name != name || len(findings) > 0 {
				t.Errorf("%s: %v", name, findings)
			}
		})
	}
	group.Wait()
}

func TestFindingsAreTheSameEveryTime(t *testing.T) {
	text := "kind: ClusterProfile\nspec:\n  services: [{events: {b: {}, a: {}}, endpoints: {z: 1, y: 1}}]\n  x: 1\n"
	fsys := fstest.MapFS{"profile.yaml": {Data: []byte(text)}}
	_, first := schema.Load(fsys, "profile.yaml")
	for range 20 {
		_, again := schema.Load(fsys, "profile.yaml")
		if diff := cmp.Diff(first, again); diff != "" {
			t.Fatalf("findings differ:\n%s", diff)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	bigsale, err := os.ReadFile("../examples/clusters/bigsale/profile.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for name, data := range map[string][]byte{"bigsale": bigsale, "1000 services": thousand()} {
		b.Run(name, func(b *testing.B) {
			fsys := fstest.MapFS{"profile.yaml": {Data: data}}
			for b.Loop() {
				load(b, fsys, "profile.yaml")
			}
		})
	}
}

func thousand() []byte {
	base, _ := os.ReadFile("testdata/minimal.yaml")
	text := bytes.NewBuffer(base)
	for i := range 1000 {
		fmt.Fprintf(text, `    - name: service-%d
      namespace: shop
      workload: {kind: Deployment, name: service-%d, labels: {app: service-%d}}
      ports: [{number: 8080, protocol: HTTP}]
      replicas: {min: 6, max: 60}
      endpoints: {zone-a: 10, zone-b: 10}
      clients: {zone-a: 0.5, zone-b: 0.5}
      capacity: {perEndpoint: 100, peak: %d, unit: concurrent requests}
      calls: [shop/cart, shop/service-%d]
      autoscaling: {managedBy: meshgen, cpuUtilization: 60}
      events: {sale: {multiplier: 3}}
`, i, i, i, 100+i, (i*7)%1000)
	}
	return text.Bytes()
}
