package sizing

// Weight is what a connection weighs while there are E endpoints, against what it
// weighs at the worst moment: (max(E, Least) + Own) / (Peak + Own). Under the
// field's law with Own = p/k it is the cost of a connection at E over that at Peak,
// so that what a pod may hold weighs the same at any E.
type Weight struct {
	Peak  int64 // endpoints at the worst moment
	Least int64 // endpoints below which a connection weighs no less
	Own   int64 // what a connection costs by itself, in endpoints
}

// Carries is what so many connections come to while there are so many endpoints,
// in connections × endpoints.
func (w Weight) Carries(connections, endpoints int64) int64 {
	return connections * (max(endpoints, w.Least) + w.Own)
}

// Budget is what a pod may carry, in connections × endpoints, that may carry
// threshold connections at the worst moment.
func (w Weight) Budget(threshold int64) int64 { return threshold * (w.Peak + w.Own) }

// Asks is the pods that carry the connections: ⌈Carries / Budget(threshold)⌉.
func (w Weight) Asks(connections, endpoints, threshold int64) int64 {
	return CeilDiv(w.Carries(connections, endpoints), w.Budget(threshold))
}
