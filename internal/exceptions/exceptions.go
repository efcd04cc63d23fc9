// Package exceptions holds the findings of policies against the exceptions of a
// profile: data with an owner, a reason and a last day. One matches a policy and
// a subject, both exactly. It judges no date by itself: what has lapsed is
// found apart, for a day that is given, so that rendered bytes do not depend on it.
package exceptions

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/findings"
	"github.com/meshgen/meshgen/internal/profile"
)

// Judge finds exceptions from what is no policy. What a profile must be, and
// what has no safe value, no owner can take upon himself. The policies are ids.
func Judge(p *profile.Profile, policies []string) diag.List {
	var found diag.List
	for i, e := range p.Spec.Exceptions {
		path := pathOf(i) + ".rule"
		f := diag.Finding{Severity: diag.Error, Pos: p.Pos(path), Subject: path}
		switch {
		case slices.Contains(policies, e.Rule):
			continue
		case findings.Known(e.Rule):
			f.ID = "exceptions/not-a-policy"
			f.Message = fmt.Sprintf("%s is %s, which is no policy: only policies have exceptions", path, e.Rule)
			f.Hint = "meet the finding's own hint: input that is malformed, and values that are not safe, cannot be excepted"
		default:
			f.ID = "exceptions/unknown-policy"
			f.Message = fmt.Sprintf("%s is %s, and there is no such policy", path, e.Rule)
			f.Hint = "meshgen policy list has them all"
			if near, ok := diag.Nearest(e.Rule, policies); ok {
				f.Hint = fmt.Sprintf("did you mean %s?", near)
			}
		}
		found = append(found, f)
	}
	return found
}

// Apply takes the findings that are excepted out of those of the policies, and
// adds one for each exception that matches none.
func Apply(p *profile.Profile, judged diag.List) (left diag.List, excepted []findings.Excepted) {
	used := make([]bool, len(p.Spec.Exceptions))
	for _, f := range judged {
		at := slices.IndexFunc(p.Spec.Exceptions, func(e profile.Exception) bool { return e.Rule == f.ID && e.Subject == f.Subject })
		if at < 0 {
			left = append(left, f)
			continue
		}
		used[at] = true
		e := p.Spec.Exceptions[at]
		excepted = append(excepted, findings.Excepted{Finding: f, Owner: e.Owner, Reason: e.Reason, Expiry: e.Expiry})
	}
	for i, e := range p.Spec.Exceptions {
		if !used[i] {
			left = append(left, unused(p, i, e, judged))
		}
	}
	return left, excepted
}

func unused(p *profile.Profile, i int, e profile.Exception, judged diag.List) diag.Finding {
	hint := deletion(p, i)
	if subjects := subjectsOf(e.Rule, judged); len(subjects) > 0 {
		hint = fmt.Sprintf("%s denies %s; where one is meant, name it exactly, else %s", e.Rule, strings.Join(subjects, ", "), hint)
	}
	return diag.Finding{
		Severity: diag.Warning, ID: "exceptions/unused", Pos: p.Pos(pathOf(i)), Subject: pathOf(i),
		Message: fmt.Sprintf("nothing is excepted: %s finds nothing about %s, or an exception before this one has it", e.Rule, e.Subject),
		Hint:    hint,
	}
}

// mostSubjects is how many subjects a hint names.
const mostSubjects = 5

// subjectsOf are what the policy found something about, sorted.
func subjectsOf(policy string, judged diag.List) []string {
	var subjects []string
	for _, f := range judged {
		if f.ID == policy {
			subjects = append(subjects, f.Subject)
		}
	}
	slices.Sort(subjects)
	subjects = slices.Compact(subjects)
	return subjects[:min(len(subjects), mostSubjects)]
}

// Expired finds the exceptions whose last day is over at that moment.
func Expired(p *profile.Profile, at time.Time) diag.List {
	var found diag.List
	for i, e := range p.Spec.Exceptions {
		if over(e.Expiry, at) {
			path := pathOf(i) + ".expiry"
			found = append(found, diag.Finding{
				Severity: diag.Warning, ID: "exceptions/expired", Pos: p.Pos(path), Subject: path,
				Message: fmt.Sprintf("the exception of %s for %s from %s ended with %s, and holds no longer", e.Owner, e.Subject, e.Rule, e.Expiry),
				Hint:    "meet the policy, or ask its owner for a later day; then " + deletion(p, i),
			})
		}
	}
	return found
}

// Lapsed are the findings that count again at that moment, for their exception
// has expired, and those that stay excepted.
func Lapsed(excepted []findings.Excepted, at time.Time) (back diag.List, still []findings.Excepted) {
	for _, e := range excepted {
		if over(e.Expiry, at) {
			back = append(back, e.Finding)
		} else {
			still = append(still, e)
		}
	}
	return back, still
}

// over reports whether the last day has passed, in UTC. The zero moment is none.
func over(lastDay string, at time.Time) bool {
	day, err := time.Parse(time.DateOnly, lastDay)
	return err == nil && !at.IsZero() && !at.Before(day.AddDate(0, 0, 1))
}

// deletion says which lines to delete.
func deletion(p *profile.Profile, i int) string {
	return "delete " + p.Lines("spec.exceptions", i, len(p.Spec.Exceptions))
}

func pathOf(i int) string { return fmt.Sprintf("spec.exceptions[%d]", i) }
