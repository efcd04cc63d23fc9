package lab_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	v3 "istio.io/istio/pilot/pkg/xds/v3"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// run is one istiod from its start until every endpoint has changed.
type run struct {
	Sidecars  bool `json:"sidecars"`
	Proxies   int  `json:"proxies"`
	Endpoints int  `json:"endpoints"` // that there are
	Seen      int  `json:"seen"`      // by a proxy on average, as PLAN.md says
	Clusters  int  `json:"clusters"`  // outbound ones of a proxy on average

	Alone   usage          `json:"alone"`   // without proxies, all garbage collected
	Rest    usage          `json:"rest"`    // with all of them, all garbage collected
	Peak    usage          `json:"peak"`    // the most of each while every endpoint changes
	Connect float64        `json:"connect"` // core·s for each proxy
	Push    float64        `json:"push"`    // core·s while every endpoint changes
	Took    float64        `json:"took"`    // seconds from the first change until all is sent
	Sent    map[string]int `json:"sent"`    // bytes for each proxy as it connects, by type
	Pushed  int            `json:"pushed"`  // bytes for each proxy while every endpoint changes
}

// measure is one run with a fresh istiod.
func (m *mesh) measure(t *testing.T, sidecars bool, proxies int) run {
	t.Helper()
	i := m.newIstiod(t)
	defer i.kill()
	all := m.newProxies(t, proxies)
	r := run{Sidecars: sidecars, Proxies: proxies, Seen: m.seen(t, all, sidecars), Endpoints: m.endpoints(), Sent: map[string]int{}}

	r.Alone = i.rest(t)
	stop := connected(t, all, i.xds)
	defer stop()
	r.Connect = (i.usage(t).CPU - r.Alone.CPU) / float64(proxies)
	for _, kind := range kinds {
		r.Sent[v3.GetShortType(kind)] = mean(all, func(p *proxy) int { return p.sent(kind) })
	}
	r.Clusters = mean(all, func(p *proxy) int { return len(p.outbound()) })
	quiet(t, all)
	r.Rest = i.rest(t)

	before, began := mean(all, (*proxy).total), time.Now()
	watched := i.watch(t)
	m.change(t)
	await(t, 10*time.Minute, "proxies that are told of every endpoint", func() error {
		if got := mean(all, (*proxy).total) - before; got < r.Sent["EDS"]*95/100 {
			return fmt.Errorf("%d bytes on average, %d when they connected", got, r.Sent["EDS"])
		}
		return nil
	})
	r.Took = time.Since(began).Seconds()
	quiet(t, all)
	r.Peak = watched()
	r.Push = i.usage(t).CPU - r.Rest.CPU
	r.Pushed = mean(all, (*proxy).total) - before
	return r
}

// endpoints are how many the mesh has.
func (m *mesh) endpoints() int {
	n := 0
	for _, s := range m.slices {
		n += len(s.Endpoints)
	}
	return n
}

// seen is how many endpoints a proxy sees on average, as PLAN.md says.
func (m *mesh) seen(t *testing.T, all []*proxy, sidecars bool) int {
	t.Helper()
	claims := cluster.Claims(t, cluster.Folder(example))
	return mean(all, func(p *proxy) int {
		if sidecars {
			return claims[p.pods.Namespace].Seen
		}
		return claims[p.pods.Namespace].InsteadOf
	})
}

func mean(all []*proxy, of func(*proxy) int) int {
	sum := 0
	for _, p := range all {
		sum += of(p)
	}
	return sum / len(all)
}

// quiet waits until proxies have been sent nothing for some seconds.
func quiet(t *testing.T, all []*proxy) {
	t.Helper()
	const still = 3 * time.Second
	last, since := -1, time.Now()
	await(t, 5*time.Minute, "proxies that are sent nothing", func() error {
		if now := mean(all, (*proxy).total); now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) < still {
			return fmt.Errorf("%d bytes", last)
		}
		return nil
	})
}

// looking is how often an istiod is looked at while endpoints change. Each look
// costs it some CPU and garbage.
const looking = 100 * time.Millisecond

// watch looks at an istiod until it is asked for the most that it took. CPU is
// that of the last look.
func (i *istiod) watch(t *testing.T) (most func() usage) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var peak usage
	var group sync.WaitGroup
	group.Go(func() {
		for ctx.Err() == nil {
			now, err := i.look()
			if err != nil {
				t.Error(err)
			}
			peak = usage{max(peak.Heap, now.Heap), max(peak.Resident, now.Resident), now.CPU}
			time.Sleep(looking)
		}
	})
	return func() usage { cancel(); group.Wait(); return peak }
}
