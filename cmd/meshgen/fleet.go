package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/schema"
)

// fleet runs the line for many profiles on every core. A cluster's files are in
// memory only while it is one of the few under way; each is called for one
// cluster at a time, in the order of the paths.
type fleet struct {
	streams
	cue       *schema.Evaluator
	chart     string
	base      string // folder of the user's own kustomization, of the one cluster that there is then
	shard     shard
	simulates bool // simulate each cluster's day
	each      func(*outcome) (status, error)
}

// run returns the worst status. A failure of one cluster is printed and does
// not stop the others. Of two profiles of one name neither is begun: the name is
// the output folder.
func (f fleet) run(ctx context.Context, members []member) (status, error) {
	if found := sameNames(members); len(found) > 0 {
		return clean, errors.Join(f.report(found, foldersOf(members)...), invalid)
	}
	if f.base != "" && len(members) > 1 {
		return clean, fmt.Errorf("--base is the base of one cluster, and there are %d profiles", len(members))
	}
	proofs, err := manifests.Open(f.chart)
	if err != nil {
		return clean, err
	}
	members = f.shard.of(members)
	results := f.start(ctx, members, proofs)
	progress := newProgress(f.err, len(members))
	worst := clean
	for i, m := range members {
		progress.show()
		r, ok := <-results[i]
		if !ok {
			break // interrupted
		}
		progress.clear()
		s, err := f.finish(m, r)
		if err != nil {
			f.fail(fmt.Errorf("%s: %w", m.path, err))
			s = failed
		}
		worst = worse(worst, s)
		progress.add(m, r.outcome.findings)
	}
	return worst, ctx.Err()
}

// worker walks one profile at a time, with one compiled schema for all of them.
type worker struct {
	loader    schema.Loader
	simulates bool
}

func newWorker(cue *schema.Evaluator) *worker {
	return &worker{loader: schema.Loader{Evaluator: cue}}
}

type result struct {
	outcome *outcome
	err     error
	done    func() // lets the next cluster begin
}

// start walks the profiles with as many workers as there are cores. A profile
// begins when a worker is free and all but a few of those before it have been
// finished; one that an interrupt keeps from beginning has no result.
func (f fleet) start(ctx context.Context, members []member, proofs *manifests.Builder) []chan result {
	results := make([]chan result, len(members))
	for i := range results {
		results[i] = make(chan result, 1)
	}
	cores := runtime.GOMAXPROCS(0)
	slots := make(chan struct{}, 2*cores)
	workers := make(chan *worker, cores)
	for range cores {
		w := newWorker(f.cue)
		w.simulates = f.simulates
		workers <- w
	}
	go func() {
		for i, m := range members {
			slots <- struct{}{}
			w := <-workers
			if ctx.Err() != nil {
				close(results[i])
				return
			}
			go func() {
				o, err := w.walk(ctx, m.path, f.base, proofs)
				workers <- w
				results[i] <- result{o, err, sync.OnceFunc(func() { <-slots })}
			}()
		}
	}()
	return results
}

func (f fleet) finish(m member, r result) (status, error) {
	defer r.done()
	folders := []string{folderOf(m.path)}
	if f.base != "" {
		folders = append(folders, ".", f.base)
	}
	if err := f.report(r.outcome.findings, folders...); err != nil {
		return failed, err
	}
	if r.err != nil {
		return failed, r.err
	}
	return f.each(r.outcome)
}
