package sample

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/meshgen/meshgen/generators"
	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/review"
	"github.com/meshgen/meshgen/policies"
	"github.com/meshgen/meshgen/schema"
)

// FuzzLine takes random profiles that are planned through the rest of the line:
// files, the proof over chart and overlays, every policy, and what people read.
// Findings are the user's business; a failure is ours.
func FuzzLine(f *testing.F) {
	for _, seed := range []uint64{2, 3, 5, 7, 11, 13} {
		f.Add(seed, []byte{})
	}
	proofs, err := manifests.Open("")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		text := Random(seed, data)
		if err := walk(proofs, text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	})
}

// unprintable are numbers that no formula may come to, and verbs without a value.
var unprintable = regexp.MustCompile(`\bNaN\b|[+-]Inf\b|%!|<nil>`)

func walk(proofs *manifests.Builder, text []byte) error {
	p, found := schema.Load(fstest.MapFS{"profile.yaml": {Data: text}}, "profile.yaml")
	if p == nil {
		return fmt.Errorf("a random profile is refused: %v", found)
	}
	pl, err := plan.Build(p)
	if err != nil || pl.Findings.HasErrors() {
		return err
	}
	tree, err := generators.Render(pl)
	if err != nil {
		return err
	}
	objects, proven, err := proofs.Build(manifests.Input{Plan: pl, Tree: tree, Pos: p.Pos})
	if err != nil {
		return err
	}
	judged, err := policies.Check(context.Background(), pl, objects)
	if err != nil {
		return err
	}
	if err := review.Render(p, pl, slices.Concat(pl.Findings, proven, judged), nil, tree); err != nil {
		return err
	}
	for _, file := range tree.Files() {
		if bad := unprintable.Find(file.Data); bad != nil {
			return fmt.Errorf("%s prints %s", file.Path, bad)
		}
	}
	return nil
}
