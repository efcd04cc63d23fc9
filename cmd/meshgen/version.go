package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// parts are the modules whose version decides what is written and judged.
var parts = []string{
	"cuelang.org/go", "github.com/kedacore/keda/v2", "github.com/open-policy-agent/opa",
	"helm.sh/helm/v3", "istio.io/istio", "k8s.io/api", "sigs.k8s.io/kustomize/api",
}

func newVersion(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of meshgen and of the parts that it is built from",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			info, ok := debug.ReadBuildInfo()
			if !ok {
				return fmt.Errorf("this binary was built without module information")
			}
			fmt.Fprintf(s.out, "meshgen %s %s\n", info.Main.Version, info.GoVersion)
			for _, want := range parts {
				for _, module := range info.Deps {
					if module.Path == want {
						fmt.Fprintf(s.out, "  %s %s\n", module.Path, module.Version)
					}
				}
			}
			return nil
		},
	}
}
