package apiserver_test

import (
	"bytes"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// owns reports whether the server's record says that the manager set the field.
func owns(o *unstructured.Unstructured, manager string, path ...any) bool {
	for _, entry := range o.GetManagedFields() {
		var fields fieldpath.Set
		if entry.Manager == manager && fields.FromJSON(bytes.NewReader(entry.FieldsV1.Raw)) == nil && fields.Has(fieldpath.MakePathOrDie(path...)) {
			return true
		}
	}
	return false
}
