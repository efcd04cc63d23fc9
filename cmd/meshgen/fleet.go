package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/meshgen/meshgen/internal/manifests"
)

// fleet runs the line for many profiles on every core. A cluster's files are in
// memory only while it is one of the few under way; each is called for one
// cluster at a time, in the order of the paths.
type fleet struct {
	streams
	chart string
	base  string // folder of the user's own kustomization, of the one cluster that there is then
	each  func(*outcome) (status, error)
}

// run returns the worst status. A failure of one cluster is printed and does
// not stop the others.
func (f fleet) run(ctx context.Context, paths []string) (status, error) {
	if err := f.judgeNames(paths); err != nil {
		return clean, err
	}
	if f.base != "" && len(paths) > 1 {
		return clean, fmt.Errorf("--base is the base of one cluster, and there are %d profiles", len(paths))
	}
	proofs, err := manifests.Open(f.chart)
	if err != nil {
		return clean, err
	}
	results := f.start(ctx, paths, proofs)
	worst := clean
	for i, path := range paths {
		r := <-results[i]
		s, err := f.finish(r)
		if err != nil {
			fmt.Fprintf(f.err, "meshgen: %s: %v\n", path, err)
			s = failed
		}
		worst = worse(worst, s)
	}
	return worst, ctx.Err()
}

type result struct {
	outcome *outcome
	err     error
	done    func() // lets the next cluster begin
}

// start walks the profiles with as many workers as there are cores. A worker
// takes its next profile when the result before has been finished.
func (f fleet) start(ctx context.Context, paths []string, proofs *manifests.Builder) []chan result {
	results := make([]chan result, len(paths))
	for i := range results {
		results[i] = make(chan result, 1)
	}
	slots := make(chan struct{}, 2*runtime.GOMAXPROCS(0))
	workers := make(chan struct{}, runtime.GOMAXPROCS(0))
	go func() {
		for i, path := range paths {
			slots <- struct{}{}
			workers <- struct{}{}
			go func() {
				o, err := walk(ctx, path, f.base, proofs)
				<-workers
				results[i] <- result{o, err, sync.OnceFunc(func() { <-slots })}
			}()
		}
	}()
	return results
}

func (f fleet) finish(r result) (status, error) {
	defer r.done()
	if err := r.outcome.findings.Text(f.err); err != nil {
		return failed, err
	}
	if r.err != nil {
		return failed, r.err
	}
	return f.each(r.outcome)
}

// judgeNames refuses two profiles of one name before anything is written: the
// name is the output folder.
func (f fleet) judgeNames(paths []string) error {
	found := sameNames(paths)
	if len(found) == 0 {
		return nil
	}
	return errors.Join(found.Text(f.err), invalid)
}
