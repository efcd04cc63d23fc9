package manifests

import (
	"bytes"
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/internal/diag"
)

// Applied is what is applied beside the istiod chart, as YAML documents: the whole
// objects as they were generated, and with a base all of it under the Components.
// Without one the patches are left out, and a finding says so. It is for input
// that Build finds no error in.
func (b *Builder) Applied(in Input) ([]byte, diag.List, error) {
	folders, err := foldersOf(in.Plan.Cluster, in.Tree)
	if err != nil {
		return nil, nil, err
	}
	components, err := componentsOf(folders, in.Plan.Bases, b.reading)
	if err != nil {
		return nil, nil, err
	}
	all, err := generatedOf(in.Plan.Cluster, folders)
	if err != nil {
		return nil, nil, err
	}
	var docs bytes.Buffer
	for _, g := range all {
		if in.Base == "" || !folderOf(folders, g.file).isComponent() {
			docs.WriteString("---\n")
			docs.Write(g.data)
		}
	}
	if in.Base == "" {
		return docs.Bytes(), notPatched(in, components, nil), nil
	}
	err = in.writeBase(&docs, components)
	return docs.Bytes(), nil, err
}

// writeBase writes the user's base under the Components.
func (in Input) writeBase(docs *bytes.Buffer, components map[string]*component) error {
	base := &base{given: in.Base}
	if found := base.load(); found != nil {
		return errors.New(found.Message)
	}
	built, err := base.build("applied", components)
	if err != nil {
		return fmt.Errorf("the Components over %s: %w", in.Base, err)
	}
	for _, o := range built {
		data, err := yaml.Marshal(o.object)
		if err != nil {
			return err
		}
		docs.WriteString("---\n")
		docs.Write(data)
	}
	return nil
}
