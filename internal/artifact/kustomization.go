package artifact

// Kustomization is the little that is needed of kustomize's type, whose package
// belongs to the proof. It has no sortOptions: the order of objects that nothing
// but names tells apart is stable without, and kustomize warns about them where
// an order is also given on the command line.
type Kustomization struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Resources  []string `json:"resources"`
}

// KustomizationOf lists resources, in their order.
func KustomizationOf(resources []string) Kustomization {
	return Kustomization{"kustomize.config.k8s.io/v1beta1", "Kustomization", resources}
}
