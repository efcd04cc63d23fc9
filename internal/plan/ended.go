package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
)

// Ended finds the dated events that have ended at that moment. No decision
// depends on it: the triggers of an event that has ended ask for nothing.
func Ended(p *profile.Profile, at time.Time) diag.List {
	var found diag.List
	for i, e := range p.Spec.Events {
		if e.End == nil || e.End.After(at) {
			continue
		}
		path := fmt.Sprintf("spec.events[%d]", i)
		found = append(found, diag.Finding{
			Severity: diag.Warning, ID: "plan/event-ended", Pos: p.Pos(path), Subject: path,
			Message: fmt.Sprintf("event %s ended at %s: its triggers ask for nothing any more", e.Name, e.End.UTC().Format(time.RFC3339)),
			Hint:    "delete " + p.Lines("spec.events", i, len(p.Spec.Events)) + namedBy(p, e.Name, p.Pos(path).File) + "; every autoscaler stays",
		})
	}
	return found
}

// namedBy says where Services name the event: it has to be deleted there too. In
// CUE that may be another file than the event's.
func namedBy(p *profile.Profile, event, file string) string {
	places := map[diag.Pos]bool{}
	for i, s := range p.Spec.Services {
		if _, ok := s.Events[event]; ok {
			at := p.Pos(servicePath(i) + ".events." + event)
			places[diag.Pos{File: at.File, Line: at.Line}] = true
		}
	}
	if len(places) == 0 {
		return ""
	}
	var texts []string
	for _, at := range slices.SortedFunc(maps.Keys(places), inOrder) {
		if at.File == file {
			texts = append(texts, fmt.Sprint(at.Line))
		} else {
			texts = append(texts, fmt.Sprintf("%d of %s", at.Line, at.File))
		}
	}
	if len(texts) == 1 {
		return fmt.Sprintf(", and where a Service names it, on line %s", texts[0])
	}
	return fmt.Sprintf(", and where Services name it, on the lines %s", few(texts))
}

func inOrder(a, b diag.Pos) int {
	return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line)
}
