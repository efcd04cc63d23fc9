package simulate

// world is one set of values that a day is played with. Times are milliseconds
// from minute 0.
type world struct {
	name string

	age      int64 // T of a connection, 0 for ever
	interval int64 // microseconds between two connections that one pod admits

	limit    float64 // bytes
	headroom float64 // share of the limit
	residual float64 // standard deviation of a pod's memory, as a share

	zones, nodes int   // that istiod's pods may use
	podReady     int64 // from the container's start
	nodeReady    int64
	surge        share // of a rollout
	unavailable  share

	pods    int // that run at minute 0
	scaling scaling
	needs   *scaling // whose threshold says how many pods the mesh needs

	steps  []step // what the mesh is, the first of them at minute 0
	faults []fault
	watch  int64 // until when the spread is judged: the end of the event
	end    int64
}

// step is what the mesh is from a moment on.
type step struct {
	at                     int64
	connections, endpoints int64
	memory                 memory // of one pod, at that many endpoints
}

// share is a part of the pods: so many, or so many in a million.
type share struct{ pods, millionths int64 }

// up is the share of n pods, rounded up.
func (s share) up(n int64) int64 { return s.pods + (n*s.millionths+999_999)/1_000_000 }

// down is the share of n pods, rounded down.
func (s share) down(n int64) int64 { return s.pods + n*s.millionths/1_000_000 }

// used is a pod's memory in ten-thousandths of the limit.
func (w *world) used(m memory, connections int32, factor float64) int32 {
	return int32(float64(m.of(connections)*factor)*10_000/w.limit + 0.5)
}
