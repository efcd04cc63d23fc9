package helm_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// mesh is a profile with what meshgen made of it.
type mesh struct {
	name    string
	profile cluster.Profile
	plan    map[string]cluster.Decision
	users   []string // Helm values files that come before the written one
	folder  string
}

// meshes are the examples as they stand in golden/, and the profiles of this
// package.
func meshes(t *testing.T) []mesh {
	t.Helper()
	var all []mesh
	for _, name := range cluster.Names(t) {
		all = append(all, newMesh(t, name, cluster.Example(name), cluster.Folder(name)))
	}
	for _, name := range []string{"canary", "own-values"} {
		file := "testdata/" + name + "/profile.yaml"
		all = append(all, newMesh(t, name, file, cluster.Render(t, file)))
	}
	return all
}

func newMesh(t *testing.T, name, file, folder string) mesh {
	t.Helper()
	m := mesh{name: name, profile: cluster.ReadProfile(t, file), plan: cluster.Plan(t, file), folder: folder}
	for _, users := range m.profile.Istiod.Values {
		m.users = append(m.users, "testdata/"+name+"/"+users)
	}
	return m
}

// deployment is the name of istiod's Deployment.
func (m mesh) deployment() string {
	return strings.TrimSuffix("istiod-"+m.profile.Istio.Revision, "-")
}

// values are those that the chart is installed with.
func (m mesh) values(t *testing.T) map[string]any {
	t.Helper()
	return merged(t, append(m.users[:len(m.users):len(m.users)], m.folder+"/istiod/values.yaml"))
}

// installed is what a cluster has of istiod: the chart's objects and meshgen's.
type installed struct {
	deployments []*appsv1.Deployment
	budgets     []*policyv1.PodDisruptionBudget
	scalers     []string // kinds of autoscalers that the chart brings
	scaled      []scaledObject
}

// scaledObject is what the tests read of KEDA's.
type scaledObject struct {
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		ScaleTargetRef                   struct{ APIVersion, Kind, Name string }
		MinReplicaCount, MaxReplicaCount float64
	}
}

// install puts the chart and meshgen's folder into one cluster.
func (m mesh) install(t *testing.T, r release, with map[string]any) installed {
	t.Helper()
	var all installed
	for _, document := range r.install(t, m.deployment(), m.profile.Istio.Namespace, m.profile.Kubernetes.Version, with) {
		all.add(t, document)
	}
	for _, document := range m.built(t) {
		all.add(t, document)
	}
	return all
}

// built are the objects of istiod's kustomization.
func (m mesh) built(t *testing.T) []string {
	t.Helper()
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), m.folder+"/istiod")
	if err != nil {
		t.Fatalf("%s: %v", m.name, err)
	}
	var all []string
	for _, object := range objects.Resources() {
		text, err := object.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return all
}

// strict refuses a field that the API does not know, and one that stands twice.
var strict = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()

// add reads a document as the API server does that validates its fields.
func (i *installed) add(t *testing.T, document string) {
	t.Helper()
	var head struct{ Kind string }
	if err := yaml.Unmarshal([]byte(document), &head); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	switch head.Kind {
	case "":
		return // a template that printed comments alone
	case "ScaledObject":
		var object scaledObject
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		i.scaled = append(i.scaled, object)
		return
	}
	object, _, err := strict.Decode([]byte(document), nil, nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	i.keep(head.Kind, object)
}

func (i *installed) keep(kind string, object runtime.Object) {
	switch object := object.(type) {
	case *appsv1.Deployment:
		i.deployments = append(i.deployments, object)
	case *policyv1.PodDisruptionBudget:
		i.budgets = append(i.budgets, object)
	default:
		if strings.Contains(kind, "Autoscaler") {
			i.scalers = append(i.scalers, kind)
		}
	}
}
