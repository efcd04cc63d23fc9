package main

import (
	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/schema"
)

func newSchema(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a profile, for editors",
		Long: `schema prints a JSON Schema (draft 2020-12) of the cluster profile: what each
field means, what it accepts, and the value that it has when it is left out. It
knows fields one by one; meshgen validate knows the rest. Editors that speak
YAML's language server find it by the first line of a profile:

  # yaml-language-server: $schema=./profile.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			data, err := schema.JSONSchema()
			if err != nil {
				return err
			}
			_, err = s.out.Write(data)
			return err
		},
	}
}
