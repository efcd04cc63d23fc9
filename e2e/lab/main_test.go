package lab_test

import (
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// What starts the API server logs; what fails says so itself.
func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	m.Run()
}
