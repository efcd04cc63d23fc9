package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/sample"
)

func TestTheProfileIsTheOneThatIsMade(t *testing.T) {
	got, err := os.ReadFile("profile.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(sample.Profile("thousand", 1000)), string(got)); diff != "" {
		t.Errorf("go generate ./examples/clusters/thousand makes it anew (-made +there):\n%.4000s", diff)
	}
}
