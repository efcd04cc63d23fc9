package apiserver_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/meshgen/meshgen/e2e/apiserver"
	"github.com/meshgen/meshgen/e2e/cluster"
)

// TestServer judges what meshgen writes by a real API server; one is enough for
// all, since each part cleans up.
func TestServer(t *testing.T) {
	s := start(t)
	t.Run("every example is applied", s.examples)
	t.Run("the first change of the README", s.firstChange)
	folder := cluster.Render(t, adopted)
	for name, part := range map[string]func(*testing.T, string){
		"first adoption":                s.firstAdoption,
		"first adoption by Helm":        s.helmAdoption,
		"Helm before the istiod folder": s.helmFirst,
		"the budget under Argo CD":      s.replacedBudget,
		"what a patch takes away":       s.fieldsLeave,
	} {
		t.Run(name, func(t *testing.T) { part(t, folder) })
	}
}

// manager is the one that Argo CD applies by.
const manager = "argocd-controller"

// server is an API server, and the warnings that it answered with, by object.
type server struct {
	config     *rest.Config
	kubernetes kubernetes.Interface
	dynamic    dynamic.Interface
	mapper     meta.RESTMapper
	warnings   *warnings
}

func start(t *testing.T) *server {
	t.Helper()
	// For the server: thousands of objects are applied; memory is there, and cores
	// are not.
	t.Setenv("GOGC", "400")
	config, _ := apiserver.Start(t)
	heard := &warnings{said: map[string][]string{}}
	config.WarningHandlerWithContext = heard
	config.UserAgent = "kubectl/v1.37"
	client := discovery.NewDiscoveryClientForConfigOrDie(config)
	return &server{
		config: config, kubernetes: kubernetes.NewForConfigOrDie(config), dynamic: dynamic.NewForConfigOrDie(config),
		mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client)), warnings: heard,
	}
}

// warnings are what the API server says beside an answer, by the object that a
// request names.
type warnings struct {
	sync.Mutex
	said map[string][]string
}

type subject struct{}

// HandleWarningHeaderWithContext hears one warning.
func (w *warnings) HandleWarningHeaderWithContext(ctx context.Context, _ int, _, text string) {
	about, _ := ctx.Value(subject{}).(string)
	w.Lock()
	defer w.Unlock()
	if !slices.Contains(w.said[about], text) {
		w.said[about] = append(w.said[about], text)
	}
}

// take hands over what was said since the last time.
func (w *warnings) take() map[string][]string {
	w.Lock()
	defer w.Unlock()
	said := w.said
	w.said = map[string][]string{}
	return said
}

// namespaces makes those that are not there yet.
func (s *server) namespaces(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := s.kubernetes.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
}

func (s *server) resource(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := o.GroupVersionKind()
	mapping, err := s.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return s.dynamic.Resource(mapping.Resource), nil
	}
	return s.dynamic.Resource(mapping.Resource).Namespace(o.GetNamespace()), nil
}

// apply applies each object as Argo CD does: on the server, by force, any field
// that is unknown or said twice refused. It gives what the server made of each.
func (s *server) apply(t *testing.T, objects []object) map[string]*unstructured.Unstructured {
	t.Helper()
	force := true
	options := metav1.PatchOptions{FieldManager: manager, Force: &force, FieldValidation: metav1.FieldValidationStrict}
	live := map[string]*unstructured.Unstructured{}
	var lock sync.Mutex
	each(objects, func(o object) {
		resource, err := s.resource(o.Unstructured)
		if err != nil {
			t.Errorf("%s: %s: %v", o.from, o.id(), err)
			return
		}
		ctx := context.WithValue(t.Context(), subject{}, o.id())
		got, err := resource.Patch(ctx, o.GetName(), types.ApplyPatchType, []byte(o.text), options)
		if err != nil {
			t.Errorf("%s: %s is refused: %v", o.from, o.id(), err)
			return
		}
		lock.Lock()
		defer lock.Unlock()
		live[o.id()] = got
	})
	return live
}

// prune deletes objects, as Argo CD does with those that leave the manifests.
func (s *server) prune(t *testing.T, objects []object) {
	t.Helper()
	each(objects, func(o object) {
		resource, err := s.resource(o.Unstructured)
		if err == nil {
			err = resource.Delete(t.Context(), o.GetName(), metav1.DeleteOptions{})
		}
		if err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("%s: %s cannot be deleted: %v", o.from, o.id(), err)
		}
	})
}

// get is what the server holds now.
func (s *server) get(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	resource, err := s.resource(o)
	if err != nil {
		return nil, err
	}
	return resource.Get(ctx, o.GetName(), metav1.GetOptions{})
}

// each works on a few objects at a time.
func each(objects []object, work func(object)) {
	queue := make(chan object)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for o := range queue {
				work(o)
			}
		})
	}
	for _, o := range objects {
		queue <- o
	}
	close(queue)
	workers.Wait()
}
