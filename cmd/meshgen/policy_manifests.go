package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/findings"
	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/policies"
)

func newPolicyTest(s streams) *cobra.Command {
	var w writing
	cmd := &cobra.Command{
		Use:   "test FILE|FOLDER|-...",
		Short: "Judge manifests by anyone with the policies that need no plan",
		Long: `Judge Kubernetes manifests by the policies that need no plan: files of YAML or
JSON, folders with all of theirs, and - for the standard input. Name what one
cluster receives. What has to be built first is left out of folders and counted:

  kustomize build DIR | meshgen policy test -
  helm template CHART | meshgen policy test -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := newReporter(s, w)
			return r.close(judge(cmd.Context(), r, args))
		},
	}
	findingsFlags(cmd, &w)
	return cmd
}

// judge prints findings and what was judged. Objects are judged together or not
// at all: a policy on two of them could not see the one that is unreadable.
func judge(ctx context.Context, r *reporter, paths []string) error {
	c, err := manifests.Collect(paths, r.in)
	if err != nil {
		return err
	}
	suite := findings.Suite{Name: strings.Join(paths, ", "), Judged: []string{"manifests"}, Findings: c.Findings, Sources: map[string]diag.Pos{"": {File: paths[0]}}}
	if c.Findings.HasErrors() {
		if err := r.found(suite, namedFolders(paths)...); err != nil {
			return err
		}
		return invalid
	}
	if len(c.Objects) == 0 {
		return fmt.Errorf("nothing to judge: no Kubernetes object in %s", strings.Join(paths, ", "))
	}
	found, needPlan, err := judgeParts(ctx, c.Parts)
	if err != nil {
		return err
	}
	ids, err := policiesOf(false)
	if err != nil {
		return err
	}
	suite.Judged, suite.Findings = append(suite.Judged, ids...), found
	if err := r.found(suite, namedFolders(paths)...); err != nil {
		return err
	}
	if err := summary(r.streams, c, needPlan); err != nil {
		return err
	}
	if found.HasErrors() {
		return denied
	}
	return nil
}

// sets is how many there are, where there is more than one.
func sets(parts [][]manifests.Object) int {
	if len(parts) == 1 {
		return 0
	}
	return len(parts)
}

func judgeParts(ctx context.Context, parts [][]manifests.Object) (found diag.List, needPlan int, err error) {
	for _, part := range parts {
		some, left, err := policies.CheckManifests(ctx, part)
		if err != nil {
			return nil, 0, err
		}
		found, needPlan = append(found, some...), left
	}
	return found, needPlan, nil
}

func summary(s streams, c *manifests.Collection, needPlan int) error {
	all, err := policies.List()
	if err != nil {
		return err
	}
	rows := table{}
	for _, row := range []struct {
		n    int
		what string
	}{
		{len(c.Objects), "objects judged"},
		{c.Files, "files that hold them"},
		{sets(c.Parts), "sets judged apart, by folder: an object stands in several"},
		{len(all) - needPlan, "policies"},
		{needPlan, "policies left out: they need a plan"},
		{c.Kustomizations, "kustomizations skipped: build them and judge what they build"},
		{c.Patches, "patches and settings of kustomizations skipped"},
		{c.Charts, "Helm charts skipped: render them and judge what they render"},
		{c.Strays, "documents skipped: they are no objects"},
	} {
		if row.n > 0 {
			rows.add(strconv.Itoa(row.n), row.what)
		}
	}
	return rows.print(s)
}
