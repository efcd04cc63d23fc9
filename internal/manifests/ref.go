package manifests

import "strings"

// ref names an object; the kinds that are patched here are told apart without
// their group.
type ref struct{ kind, namespace, name string }

func (r ref) String() string { return r.kind + " " + strings.TrimPrefix(r.namespace+"/"+r.name, "/") }

// named is the same object under another name.
func (r ref) named(name string) ref { return ref{r.kind, r.namespace, name} }

func refOf(object map[string]any) ref {
	o := Object{Object: object}
	return ref{o.kind(), o.text("metadata", "namespace"), o.name()}
}
