package plan

import (
	"fmt"
	"maps"
	"slices"
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
			Hint:    "delete " + p.Lines("spec.events", i, len(p.Spec.Events)) + namedBy(p, e.Name) + "; every autoscaler stays",
		})
	}
	return found
}

// namedBy says where Services name the event: it has to be deleted there too.
func namedBy(p *profile.Profile, event string) string {
	lines := map[int]bool{}
	for i, s := range p.Spec.Services {
		if _, ok := s.Events[event]; ok {
			lines[p.Pos(servicePath(i)+".events."+event).Line] = true
		}
	}
	if len(lines) == 0 {
		return ""
	}
	var texts []string
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		texts = append(texts, fmt.Sprint(line))
	}
	if len(texts) == 1 {
		return fmt.Sprintf(", and where a Service names it, on line %s", texts[0])
	}
	return fmt.Sprintf(", and where Services name it, on the lines %s", few(texts))
}
