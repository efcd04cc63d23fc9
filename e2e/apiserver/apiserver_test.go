package apiserver_test

import (
	"testing"

	"k8s.io/client-go/kubernetes"

	"github.com/meshgen/meshgen/e2e/apiserver"
)

func TestStart(t *testing.T) {
	config, _ := apiserver.Start(t)
	client := kubernetes.NewForConfigOrDie(config)
	v, err := client.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	t.Log(v)
}
