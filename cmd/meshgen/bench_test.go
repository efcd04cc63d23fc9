package main

import (
	"context"
	"io"
	"os"
	"testing"

	"github.com/meshgen/meshgen/generators"
	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/internal/output"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/review"
	"github.com/meshgen/meshgen/policies"
	"github.com/meshgen/meshgen/schema"
)

const bigsale = "../../examples/clusters/bigsale/profile.yaml"

// BenchmarkLine is what render does for bigsale, whole and by stages. A fresh
// line proves the chart's keys, as a run for one cluster does; a proven one has
// that proof from a cluster before it, as most of a fleet do.
func BenchmarkLine(b *testing.B) {
	ctx := context.Background()
	proofs, err := manifests.Open("")
	if err != nil {
		b.Fatal(err)
	}
	o, err := walk(ctx, bigsale, "", proofs)
	if err != nil || o.status != clean {
		b.Fatal(o.findings, err)
	}
	objects, _, err := o.prove(bigsale, "", proofs)
	if err != nil {
		b.Fatal(err)
	}
	root := b.TempDir()
	stages := map[string]func() error{
		"stage=load": func() error {
			_, found := schema.Load(os.DirFS("../.."), "examples/clusters/bigsale/profile.yaml")
			return none(found.HasErrors())
		},
		"stage=plan":     func() error { _, err := plan.Build(o.profile); return err },
		"stage=generate": func() error { _, err := generators.Render(o.plan); return err },
		"stage=prove/fresh": func() error {
			fresh, err := manifests.Open("")
			if err != nil {
				return err
			}
			_, _, err = o.prove(bigsale, "", fresh)
			return err
		},
		"stage=prove/proven": func() error { _, _, err := o.prove(bigsale, "", proofs); return err },
		"stage=gate":         func() error { _, err := policies.Check(ctx, o.plan, objects); return err },
		"stage=review": func() error {
			tree, err := generators.Render(o.plan)
			if err != nil {
				return err
			}
			return review.Render(o.profile, o.plan, o.findings, tree)
		},
		"stage=write":  func() error { return output.Write(root, o.cluster, o.tree.Files()) },
		"whole/fresh":  func() error { return render(b.TempDir(), "bigsale") },
		"whole/proven": func() error { _, err := walk(ctx, bigsale, "", proofs); return err },
	}
	for _, name := range []string{
		"stage=load", "stage=plan", "stage=generate", "stage=prove/fresh", "stage=prove/proven", "stage=gate", "stage=review", "stage=write",
		"whole/fresh", "whole/proven",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := stages[name](); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func none(bad bool) error {
	if bad {
		return invalid
	}
	return nil
}

// render calls the command itself.
func render(root, cluster string) error {
	s := streams{nil, io.Discard, io.Discard}
	if code := run([]string{"render", "../../examples/clusters/" + cluster, "-o", root}, s); code != 0 {
		return status(code)
	}
	return nil
}
