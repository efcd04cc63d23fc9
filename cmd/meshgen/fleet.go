package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/meshgen/meshgen/internal/findings"
	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/policies"
	"github.com/meshgen/meshgen/schema"
)

// fleet runs the line for many profiles on every core. A cluster's files are in
// memory only while it is one of the few under way. What put does with them may
// wait for a disk, and keeps no core from the next cluster; each is called for one
// cluster at a time, in the order of the paths.
type fleet struct {
	*reporter
	cue       *schema.Evaluator
	chart     string
	base      string // folder of the user's own kustomization, of the one cluster that there is then
	shard     shard
	simulates bool // simulate each cluster's day
	asOf      time.Time
	put       func(*outcome) error // for several clusters at a time, as they come; nil for nothing
	each      func(*outcome) (status, error)
}

// run returns the worst status. A failure of one cluster is printed and does
// not stop the others. Of two profiles of one name neither is begun, in no shard: the
// name is the output folder.
func (f fleet) run(ctx context.Context, members []member) (status, error) {
	if f.base != "" && len(members) > 1 {
		return clean, fmt.Errorf("--base is the base of one cluster, and there are %d profiles", len(members))
	}
	go policies.Prepare() // meanwhile: it takes as long as all that comes before the first gate
	proofs, err := manifests.Open(f.chart)
	if err != nil {
		return clean, err
	}
	worst, err := f.refuse(members)
	if err != nil {
		return clean, err
	}
	members = f.shard.of(apart(members))
	results := f.start(ctx, members, proofs)
	progress := newProgress(f.err, len(members))
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
		progress.add(m, r.outcome.reported())
	}
	return worst, ctx.Err()
}

// refuse says which members have one name.
func (f fleet) refuse(members []member) (status, error) {
	found := sameNames(members)
	if len(found) == 0 {
		return clean, nil
	}
	return invalid, f.found(findings.Suite{Name: "profiles", Judged: []string{"schema"}, Findings: found}, foldersOf(members)...)
}

// worker walks one profile at a time, with one compiled schema for all of them.
type worker struct {
	loader    schema.Loader
	simulates bool
	asOf      time.Time // zero for no day
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
	slots := make(chan struct{}, 4*cores)
	workers := make(chan *worker, cores)
	for range cores {
		w := newWorker(f.cue)
		w.simulates, w.asOf = f.simulates, f.asOf
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
				if err == nil && f.put != nil {
					err = f.put(o)
				}
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
	if err := f.found(r.outcome.suite(m), folders...); err != nil {
		return failed, err
	}
	if r.err != nil {
		return failed, r.err
	}
	return f.each(r.outcome)
}
