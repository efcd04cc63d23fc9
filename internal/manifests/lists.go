package manifests

import (
	"sigs.k8s.io/kustomize/kyaml/openapi"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// List is how the items of a list are told apart. Of one with Keys, an item is
// what has their values; of a Set, an item is its value. The order of both means
// nothing. Any other list is its items in their order.
type List struct {
	Keys []string
	Set  bool
}

// Items stands for any item of a list in a path of ListAt.
const Items = openapi.Elements

// ListAt is the list at a path of map keys and Items, as the API server's own
// schema has it (x-kubernetes-list-map-keys and the patch merge keys), and as
// those who read it take it where the schema calls it atomic.
func ListAt(apiVersion, kind string, path ...string) List {
	if l, ok := unordered[kind+" "+last(path)]; ok {
		return l
	}
	if l, ok := unordered[last(path)]; ok {
		return l
	}
	object := openapi.SchemaForResourceType(kyaml.TypeMeta{APIVersion: apiVersion, Kind: kind})
	if object == nil {
		return List{}
	}
	list := object.Lookup(path...)
	if list == nil {
		return List{}
	}
	strategy, keys := list.PatchStrategyAndKeyList()
	return List{Keys: keys, Set: strategy == "merge" && len(keys) == 0}
}

// unordered are lists that are replaced as a whole and of which the order means
// nothing, by the field's name, or by kind and name: whoever reads one goes through
// all of it.
var unordered = map[string]List{
	"tolerations":                 {Set: true},
	"matchLabelKeys":              {Set: true},
	"Sidecar hosts":               {Set: true},
	"ClusterRole rules":           {Set: true},
	"Role rules":                  {Set: true},
	"ClusterRole verbs":           {Set: true},
	"Role verbs":                  {Set: true},
	"ClusterRole resources":       {Set: true},
	"Role resources":              {Set: true},
	"ClusterRole apiGroups":       {Set: true},
	"Role apiGroups":              {Set: true},
	"ClusterRoleBinding subjects": {Set: true},
	"RoleBinding subjects":        {Set: true},
}

func last(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return path[len(path)-1]
}
