package apiserver_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// owns reports whether the server's record says that the manager set the field.
func owns(t *testing.T, o *unstructured.Unstructured, manager string, path ...any) bool {
	t.Helper()
	for _, entry := range o.GetManagedFields() {
		var fields fieldpath.Set
		if err := fields.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
			t.Fatal(err)
		}
		if entry.Manager == manager && fields.Has(fieldpath.MakePathOrDie(path...)) {
			return true
		}
	}
	return false
}
