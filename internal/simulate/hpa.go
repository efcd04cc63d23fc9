package simulate

import (
	"math"

	"github.com/meshgen/meshgen/internal/sizing"
)

// scaling is what decides how many pods there are: an HPA, and what it asks.
type scaling struct {
	min, max int64
	up, down rules

	threshold int64          // connections a pod; 0 for a world that scales on CPU alone
	weight    *sizing.Weight // of a connection, by endpoints; nil where connections count alone
	multiple  int64          // replicas are asked for in multiples of it; 0 for no rounding
	lookback  int64          // for how long a sample of a pod that has gone is counted
	scrape    int64          // interval
	windows   []window

	fallback int64 // replicas without Prometheus, or those that run if more; 0 for none

	cpuPerReconnect float64 // core·s; of a world that scales on CPU
	cpuTarget       float64 // cores that a pod may use
}

// window is a trigger of the calendar.
type window struct {
	event      string
	from, to   int64
	replicas   int64
	prometheus bool // asks Prometheus; else KEDA's cron
}

// rules are one direction of an HPA's behavior.
type rules struct {
	window   int64 // stabilization
	policies []policy
}

// policy is how much may change within a period: so many pods, or percent.
type policy struct {
	pods, percent int64
	period        int64
}

// tolerance is the HPA's (horizontal-pod-autoscaler-tolerance).
const tolerance = 0.1

// averaged is the replicas that a metric with target AverageValue asks for:
// Kubernetes' GetExternalPerPodMetricReplicas. running is the pods that there are.
func averaged(running, usage, target int64) int64 {
	ratio := float64(usage) / float64(float64(target)*float64(running))
	if running > 0 && 1-tolerance <= ratio && ratio <= 1+tolerance {
		return running
	}
	return (usage + target - 1) / target
}

// hpa is an autoscaler with what it remembers. Its arithmetic is that of
// Kubernetes' pkg/controller/podautoscaler/horizontal.go.
type hpa struct {
	*scaling
	recommendations []remembered // unstabilized
	ups, downs      []remembered // changes of replicas
}

// remembered is a number and when it was.
type remembered struct{ at, replicas int64 }

// next is the replicas after a sync at which the metrics ask for wanted.
func (h *hpa) next(now, current, wanted int64) int64 {
	next := current
	switch {
	case current > h.max:
		next = h.max
	case current < h.min:
		next = h.min
	default:
		next = h.limited(now, current, h.stabilized(now, current, wanted))
	}
	h.remember(now, next-current)
	return next
}

func (h *hpa) remember(now, change int64) {
	h.ups = within(h.ups, now-longest(h.up))
	h.downs = within(h.downs, now-longest(h.down))
	switch {
	case change > 0:
		h.ups = append(h.ups, remembered{now, change})
	case change < 0:
		h.downs = append(h.downs, remembered{now, -change})
	}
}

// stabilized holds a recommendation against those of both windows: up to the
// least of the one, down to the most of the other.
func (h *hpa) stabilized(now, current, wanted int64) int64 {
	up, down := wanted, wanted
	for _, r := range h.recommendations {
		if r.at > now-h.up.window {
			up = min(up, r.replicas)
		}
		if r.at > now-h.down.window {
			down = max(down, r.replicas)
		}
	}
	h.recommendations = append(within(h.recommendations, now-max(h.up.window, h.down.window)), remembered{now, wanted})
	return min(max(current, up), down)
}

// limited holds a recommendation against the policies, of which the one that
// allows most counts, and against the bounds.
func (h *hpa) limited(now, current, wanted int64) int64 {
	switch {
	case wanted > current:
		limit := current
		for _, p := range h.up.policies {
			limit = max(limit, p.up(h.began(now, current, p.period)))
		}
		return min(wanted, limit, h.max)
	case wanted < current:
		limit := current
		for _, p := range h.down.policies {
			limit = min(limit, p.down(h.began(now, current, p.period)))
		}
		return max(wanted, limit, h.min)
	}
	return current
}

// began is the replicas with which a policy's period began.
func (h *hpa) began(now, current, period int64) int64 {
	return current - sumAfter(h.ups, now-period) + sumAfter(h.downs, now-period)
}

func (p policy) up(n int64) int64 {
	if p.percent == 0 {
		return n + p.pods
	}
	return int64(math.Ceil(float64(float64(n) * (1 + float64(p.percent)/100))))
}

func (p policy) down(n int64) int64 {
	if p.percent == 0 {
		return n - p.pods
	}
	return int64(float64(n) * (1 - float64(p.percent)/100))
}

func longest(r rules) int64 {
	most := int64(0)
	for _, p := range r.policies {
		most = max(most, p.period)
	}
	return most
}

// within drops in place what was at a moment or before it.
func within(all []remembered, since int64) []remembered {
	kept := all[:0]
	for _, r := range all {
		if r.at > since {
			kept = append(kept, r)
		}
	}
	return kept
}

func sumAfter(all []remembered, since int64) int64 {
	sum := int64(0)
	for _, r := range all {
		if r.at > since {
			sum += r.replicas
		}
	}
	return sum
}
