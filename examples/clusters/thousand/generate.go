// Command thousand prints the profile beside it: a mesh of 1,000 services.
//
//	go run ./examples/clusters/thousand > examples/clusters/thousand/profile.yaml
package main

import (
	"fmt"
	"os"

	"github.com/meshgen/meshgen/internal/sample"
)

//go:generate sh -c "go run . > profile.yaml"

func main() {
	if _, err := os.Stdout.Write(sample.Profile("thousand", 1000)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
