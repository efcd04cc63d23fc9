package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshgen/meshgen/generators"
	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/internal/output"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/review"
	"github.com/meshgen/meshgen/internal/sample"
	"github.com/meshgen/meshgen/policies"
	"github.com/meshgen/meshgen/schema"
)

const bigsale = "../../examples/clusters/bigsale/profile.yaml"

// BenchmarkLine is what render does for bigsale, whole and by stages.
func BenchmarkLine(b *testing.B) { benchmarkLine(b, bigsale) }

// BenchmarkMesh is the same for made-up meshes, so that growth can be read.
func BenchmarkMesh(b *testing.B) {
	for _, services := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprintf("services=%d", services), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "profile.yaml")
			if err := os.WriteFile(path, sample.Profile("made-up", services), 0o600); err != nil {
				b.Fatal(err)
			}
			benchmarkLine(b, path)
		})
	}
}

// benchmarkLine times each stage of a profile's line on what those before it
// made, then the line. A fresh line proves the chart's keys, as a run for one
// cluster does; a proven one has that proof from a cluster before it, as most of
// a fleet do.
func benchmarkLine(b *testing.B, path string) {
	ctx := context.Background()
	proofs, err := manifests.Open("")
	if err != nil {
		b.Fatal(err)
	}
	o, err := new(worker).walk(ctx, path, "", proofs)
	if err != nil || o.status != clean {
		b.Fatal(o.findings, err)
	}
	objects, _, err := o.prove(onDisk(path), "", proofs)
	if err != nil {
		b.Fatal(err)
	}
	writer := output.NewWriter(b.TempDir())
	for _, stage := range []struct {
		name string
		run  func() error
	}{
		{"stage=load", func() error {
			fsys, name, _ := open(path)
			_, found := schema.Load(fsys, name)
			return none(found.HasErrors())
		}},
		{"stage=plan", func() error { _, err := plan.Build(o.profile); return err }},
		{"stage=generate", func() error { _, err := generators.Render(o.plan); return err }},
		{"stage=prove/fresh", func() error { return proveAnew(o, path) }},
		{"stage=prove/proven", func() error { _, _, err := o.prove(onDisk(path), "", proofs); return err }},
		{"stage=gate", func() error { _, err := policies.Check(ctx, o.plan, objects); return err }},
		{"stage=review", func() error { return reviewAnew(o) }},
		{"stage=write", func() error { _, err := writer.Write(o.cluster, o.tree.Files()); return err }},
		{"whole/fresh", func() error { return render(b.TempDir(), path) }},
		{"whole/proven", func() error { _, err := new(worker).walk(ctx, path, "", proofs); return err }},
	} {
		b.Run(stage.name, func(b *testing.B) {
			for b.Loop() {
				if err := stage.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func proveAnew(o *outcome, path string) error {
	fresh, err := manifests.Open("")
	if err != nil {
		return err
	}
	_, _, err = o.prove(onDisk(path), "", fresh)
	return err
}

// reviewAnew generates too: the files that it adds must not be there yet.
func reviewAnew(o *outcome) error {
	tree, err := generators.Render(o.plan)
	if err != nil {
		return err
	}
	return review.Render(o.profile, o.plan, o.ofProfile(), o.excepted, tree)
}

func none(bad bool) error {
	if bad {
		return invalid
	}
	return nil
}

// render calls the command itself.
func render(root, path string) error {
	s := streams{nil, io.Discard, io.Discard}
	if code := run([]string{"render", path, "-o", root}, s); code != 0 {
		return status(code)
	}
	return nil
}

// BenchmarkFleet is render over copies of bigsale under names of their own, as
// one command; what it reports is the time a cluster.
func BenchmarkFleet(b *testing.B) {
	for _, clusters := range []int{50, 200} {
		b.Run(fmt.Sprintf("clusters=%d", clusters), func(b *testing.B) {
			folder := copies(b, clusters)
			root := b.TempDir()
			for b.Loop() {
				if err := render(root, folder); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*clusters), "ms/cluster")
		})
	}
}

// copies is a folder of so many profiles of bigsale, each with its own name.
func copies(t testing.TB, clusters int) string {
	t.Helper()
	text, err := os.ReadFile(bigsale)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for i := range clusters {
		name := fmt.Sprintf("bigsale-%03d", i)
		profile := strings.Replace(string(text), "name: bigsale\n", "name: "+name+"\n", 1)
		if err := os.MkdirAll(filepath.Join(folder, name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name, "profile.yaml"), []byte(profile), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
