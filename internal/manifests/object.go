// Package manifests holds what a cluster will receive: every Kubernetes object
// with the file that it came from.
package manifests

// Object is a Kubernetes object as the API server would receive it, and the
// file that it came from.
type Object struct {
	File   string
	Line   int // at which it begins; 0 for what was built
	Object map[string]any
}
