package schema_test

import (
	"os"
	"testing"

	"github.com/meshgen/meshgen/schema"
)

func TestExamplesLoadUnchanged(t *testing.T) {
	for _, name := range []string{"bigsale", "featureflag", "boutique"} {
		p, findings := schema.Load(os.DirFS("../examples/clusters"), name+"/profile.yaml")
		if len(findings) > 0 {
			t.Errorf("%s: %v", name, findings)
		}
		if p == nil || p.Metadata.Name != name {
			t.Errorf("%s: loaded %+v", name, p)
		}
	}
}
