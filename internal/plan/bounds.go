package plan

import (
	"fmt"
	"slices"

	"github.com/meshgen/meshgen/internal/diag"
)

// mostErrors are as many as anybody reads at once: what comes after is not planned.
const mostErrors = 1000

// mostOverlaps is how many overlaps are judged: the events that each Service names,
// times the most events that are under way together. 5,000 Services that name 8
// events each, of which 3 overlap, have 120,000.
const mostOverlaps = 1 << 17

// full reports whether the errors are as many as anybody reads.
func (b *builder) full() bool { return b.errors >= mostErrors }

// findings are sorted; where they are full, the first errors alone.
func (b *builder) findings() diag.List {
	sorted := b.plan.Findings.Sorted()
	if !b.full() {
		return sorted
	}
	errs := slices.DeleteFunc(sorted, func(f diag.Finding) bool { return f.Severity != diag.Error })
	most := min(mostErrors, len(errs)) // fewer where some were said twice
	return errs.Cut(most, "plan/too-many-findings", "%d errors and more: the rest of the mesh was not planned")
}

// judgeOverlaps keeps the plan from taking minutes.
func (b *builder) judgeOverlaps() {
	var named, together int64
	for _, s := range b.spec().Services {
		named += int64(len(s.Events))
	}
	for _, set := range b.sets {
		together = max(together, int64(len(set)))
	}
	if named*together <= mostOverlaps {
		return
	}
	b.find(diag.Finding{
		Severity: diag.Error, ID: "plan/too-many-overlaps",
		Message: fmt.Sprintf("Services name events %s times, and up to %d events overlap: that is %s overlaps, more than the %s that are judged",
			grouped(named), together, grouped(named*together), grouped(mostOverlaps)),
		Hint: "let Services name only events that change their load, or make one event of those that come together",
	}, "spec.events")
}
