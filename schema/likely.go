package schema

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/meshgen/meshgen/internal/profile"
)

// The units that the schema gives numbers by the attribute @unit.
const (
	coresUnit = "cores"
	bytesUnit = "bytes"
	timeUnit  = "time"
)

// likely asks whether a value was meant that the shape accepts; it is empty where
// none is near.
func (s *shape) likely(n *node) string {
	if n.kind != text && n.kind != number {
		return ""
	}
	switch {
	case s.unit == timeUnit:
		return s.didYouMean(append(spelled(n.literal, durationUnits), inHours(n.literal)...)...)
	case s.unit != "":
		return s.likelyQuantity(n.literal)
	case s.item != nil:
		return s.likelyList(n)
	case s.meant[n.literal] != "":
		return s.didYouMean(s.meant[n.literal])
	case s.ofDays():
		return didYouMean(days(n.literal, s.choices), ", ")
	}
	return s.didYouMean(share(n.literal)...)
}

// didYouMean names the candidates that the shape accepts.
func (s *shape) didYouMean(candidates ...string) string {
	return didYouMean(slices.DeleteFunc(candidates, func(c string) bool {
		return !s.accepts(&node{kind: text, literal: c}) && !s.accepts(&node{kind: number, literal: c})
	}), " or ")
}

func didYouMean(candidates []string, between string) string {
	if len(candidates) == 0 {
		return ""
	}
	return fmt.Sprintf("did you mean %s?", strings.Join(candidates, between))
}

// quantity is how much a Kubernetes quantity is.
func quantity(literal string) (*big.Rat, bool) {
	var q profile.Quantity
	err := q.UnmarshalJSON([]byte(literal))
	return &q.Rat, err == nil
}

// numbered is a number and what stands behind it as its unit.
var numbered = regexp.MustCompile(`^ *([0-9]{1,15}(?:\.[0-9]{1,9})?) *([A-Za-z]*1?) *$`)

// spelled are a number's valid spellings where its unit is written in another way:
// units holds them by what is written, in lower case.
func spelled(literal string, units map[string][]string) []string {
	m := numbered.FindStringSubmatch(literal)
	if m == nil {
		return nil
	}
	var all []string
	for _, unit := range units[strings.ToLower(m[2])] {
		all = append(all, m[1]+unit)
	}
	return all
}

// Units by what is written for them, and by what they are mistaken for.
var (
	byteUnits = map[string][]string{
		"k": {"k"}, "kb": {"k"}, "ki": {"Ki"}, "kib": {"Ki"}, "k1": {"Ki"},
		"m": {"M", "Mi"}, "mb": {"M", "Mi"}, "mi": {"Mi"}, "mib": {"Mi"}, "m1": {"Mi"},
		"g": {"G", "Gi"}, "gb": {"G", "Gi"}, "gi": {"Gi"}, "gib": {"Gi"}, "g1": {"Gi"},
		"t": {"T", "Ti"}, "tb": {"T", "Ti"}, "ti": {"Ti"}, "tib": {"Ti"}, "t1": {"Ti"},
	}
	byteSlips = map[string][]string{
		"": {"Mi"}, "b": {"Mi"}, "k": {"M"}, "ki": {"Mi"},
		"g": {"M"}, "gb": {"M"}, "gi": {"Mi"}, "gib": {"Mi"}, "t": {"G"}, "tb": {"G"}, "ti": {"Gi"}, "tib": {"Gi"},
	}
	coreUnits = map[string][]string{
		"core": {""}, "cores": {""}, "cpu": {""}, "cpus": {""}, "vcpu": {""}, "vcpus": {""}, "c": {""},
	}
	coreSlips     = map[string][]string{"": {"m"}, "m": {"m"}}
	durationUnits = map[string][]string{
		"": {"s"}, "s": {"s"}, "sec": {"s"}, "secs": {"s"}, "second": {"s"}, "seconds": {"s"},
		"m": {"m"}, "min": {"m"}, "mins": {"m"}, "minute": {"m"}, "minutes": {"m"},
		"h": {"h"}, "hr": {"h"}, "hrs": {"h"}, "hour": {"h"}, "hours": {"h"},
	}
)

func (s *shape) likelyQuantity(literal string) string {
	units, slips := byteUnits, byteSlips
	if s.unit == coresUnit {
		units, slips = coreUnits, coreSlips
	}
	hint := s.didYouMean(spelled(literal, units)...)
	if hint == "" {
		hint = s.didYouMean(spelled(literal, slips)...)
	}
	if hint == "" { // of a long text too, which is not worth the time to read it as a number
		return ""
	}
	if q, ok := quantity(literal); ok {
		return fmt.Sprintf("%s is %s %s: %s", literal, profile.Exact(q), s.unit, hint)
	}
	return hint
}

var wholeDays = regexp.MustCompile(`^([0-9]{1,4}) ?(d|day|days)$`)

// inHours is a number of days as a duration has it.
func inHours(literal string) []string {
	m := wholeDays.FindStringSubmatch(literal)
	if m == nil {
		return nil
	}
	n, _ := strconv.Atoi(m[1]) // digits
	return []string{fmt.Sprintf("%dh", 24*n)}
}

// percentage is a number with its sign, or one from 10 to 100 that is large for a share.
var percentage = regexp.MustCompile(`^(?:([0-9]{1,4}(?:\.[0-9]{1,9})?) ?%|([1-9][0-9](?:\.[0-9]{1,9})?|100))$`)

// share is what a percentage is as a share.
func share(literal string) []string {
	m := percentage.FindStringSubmatch(literal)
	if m == nil {
		return nil
	}
	percent, _ := new(big.Rat).SetString(m[1] + m[2]) // digits
	return []string{profile.Exact(percent.Quo(percent, big.NewRat(100, 1)))}
}

// likelyList is the list that one text stands for.
func (s *shape) likelyList(n *node) string {
	items := []string{n.literal}
	if s.item.ofDays() {
		items = days(n.literal, s.item.choices)
	}
	for _, item := range items {
		if !s.item.accepts(&node{kind: n.kind, literal: item}) {
			return ""
		}
	}
	if len(items) == 0 {
		return ""
	}
	return fmt.Sprintf("a list stands in brackets: [%s]", clip(strings.Join(items, ", ")))
}

// ofDays reports whether the choices are those of #Day.
func (s *shape) ofDays() bool { return slices.Contains(s.choices, "Mon") }

// days are the days that a text names in full, in lower case, after each other or
// from one to another; none where it names anything else.
func days(literal string, week []string) (all []string) {
	for _, part := range strings.Split(literal, ",") {
		first, last, ranges := strings.Cut(part, "-")
		if !ranges {
			last = first
		}
		from, to := dayIndex(first, week), dayIndex(last, week)
		if from < 0 || to < 0 || len(all) >= len(week) {
			return nil
		}
		for i := from; ; i = (i + 1) % len(week) {
			all = append(all, week[i])
			if i == to {
				break
			}
		}
	}
	return all
}

// dayIndex is the day of the week that a text begins with, or -1.
func dayIndex(name string, week []string) int {
	name = strings.ToLower(strings.TrimSpace(name))
	return slices.IndexFunc(week, func(day string) bool {
		rest, ok := strings.CutPrefix(name, strings.ToLower(day))
		return ok && (rest == "" || strings.HasSuffix(rest, "day"))
	})
}
