package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/policies"
)

func newPolicy(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "List the policies that every output passes, or judge manifests by them",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyList(s), newPolicyTest(s))
	return cmd
}

func newPolicyList(s streams) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the policies with their severity, title and source",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			list, err := policies.List()
			if err != nil {
				return err
			}
			switch format {
			case "json":
				e := json.NewEncoder(s.out)
				e.SetEscapeHTML(false)
				e.SetIndent("", "  ")
				return e.Encode(list)
			case "text":
				return policyText(s, list)
			}
			return fmt.Errorf("output format %q: use text or json", format)
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	return cmd
}

func policyText(s streams, list []policies.Policy) error {
	rows := table{}
	for _, p := range list {
		rows.add(p.ID, string(p.Severity), p.Title, p.Source)
	}
	return rows.print(s)
}
