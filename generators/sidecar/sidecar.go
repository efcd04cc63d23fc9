// Package sidecar owns a cluster's mesh folder: one Sidecar for each scope that
// is written, and the kustomization that lists them.
package sidecar

import (
	"fmt"
	"path"

	networking "istio.io/api/networking/v1"
	"istio.io/client-go/pkg/apis/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/plan"
)

const owner = "sidecar"

// Render lays out the scopes that are written, in folders by namespace. Without
// one there is no file.
func Render(p *plan.Plan) ([]artifact.File, error) {
	var files []artifact.File
	list := artifact.KustomizationOf(nil)
	for _, s := range p.Scopes {
		if !s.Written() {
			continue
		}
		name := path.Join(s.Namespace, "sidecar-"+s.Name+".yaml")
		f, err := file(path.Join(p.Cluster, "mesh", name), s)
		if err != nil {
			return nil, err
		}
		files, list.Resources = append(files, f), append(list.Resources, name)
	}
	if len(files) == 0 {
		return nil, nil
	}
	f, err := artifact.YAML(path.Join(p.Cluster, "mesh", "kustomization.yaml"), owner, list, nil)
	return append(files, f), err
}

// file is a scope's Sidecar. It has no port, for a listener of its own loses
// traffic on others (istio#12536, istio#16885), and no host is excluded by ~,
// which changed its meaning in Istio 1.31. Its one label never changes: Istio
// 1.30.0 pushed to all proxies whenever one did. The version v1 is served from
// Istio 1.22 on.
func file(name string, s plan.Scope) (artifact.File, error) {
	if len(s.Hosts) == 0 {
		return artifact.File{}, fmt.Errorf("scope %s/%s has no hosts, which Istio refuses", s.Namespace, s.Name)
	}
	object := &v1.Sidecar{
		TypeMeta: metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: "Sidecar"},
		ObjectMeta: metav1.ObjectMeta{
			Name: s.Name, Namespace: s.Namespace,
			Labels: map[string]string{"app.kubernetes.io/managed-by": "meshgen"},
		},
		Spec: networking.Sidecar{Egress: []*networking.IstioEgressListener{{Hosts: s.Hosts}}},
	}
	if len(s.Selector) > 0 {
		object.Spec.WorkloadSelector = &networking.WorkloadSelector{Labels: s.Selector}
	}
	return artifact.YAML(name, owner, object, map[string]string{"spec.egress[0]": s.Reason})
}
