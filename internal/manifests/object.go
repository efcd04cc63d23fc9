// Package manifests holds what a cluster will receive: every Kubernetes object
// with the file that it came from.
package manifests

// Object is a Kubernetes object as the API server would receive it, and the
// file that it came from.
type Object struct {
	File   string
	Line   int // at which it begins; 0 for what was built
	Object map[string]any

	// StandIn says that the object is not the user's own: only what stands at the
	// paths of Ours is known of what the cluster will receive.
	StandIn bool
	Ours    [][]any // map keys and indexes, of which meshgen is the owner
}
