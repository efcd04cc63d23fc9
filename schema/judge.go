package schema

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"cuelang.org/go/cue"

	"github.com/meshgen/meshgen/internal/profile"
)

// accepts judges a scalar, or a list that is empty.
func (s *shape) accepts(n *node) bool {
	switch {
	case n.kind == list:
		return len(n.items) == 0 && s.empty
	case n.kind == mapping || n.kind >= null:
		return false
	}
	return s.rule(n) && s.bears(n)
}

// holds judges how many items a list has.
func (s *shape) holds(n *node) bool {
	return (len(n.items) > 0 || s.empty) && (s.most == 0 || len(n.items) <= s.most)
}

// bears judges what a pattern cannot: the calendar, and how much a quantity is.
func (s *shape) bears(n *node) bool {
	return inCalendar(s.id, n.literal) && (s.unit == "" || s.unit == timeUnit || s.amount(n))
}

// amount judges a quantity in text by the bounds of the number that it is.
func (s *shape) amount(n *node) bool {
	if n.kind != text {
		return true
	}
	q, ok := quantity(n.literal)
	return ok && s.rule(&node{kind: number, literal: profile.Exact(q)})
}

// inCalendar refuses 30 February, which has the pattern of a date.
func inCalendar(definition, literal string) bool { return calendarError(definition, literal) == nil }

func calendarError(definition, literal string) (err error) {
	switch definition {
	case "#Instant":
		_, err = time.Parse(time.RFC3339, literal)
	case "#Date":
		_, err = time.Parse(time.DateOnly, literal)
	}
	return err
}

// outOfRange reports a date or a time that is written as one and is none.
func outOfRange(definition, literal string) bool {
	err := &time.ParseError{}
	return errors.As(calendarError(definition, literal), &err) && strings.HasSuffix(err.Message, "out of range")
}

func (w *walk) invalid(n *node, s *shape, path string) {
	found := describe(n)
	if n.kind == list && len(n.items) > 0 && s.kinds == cue.ListKind { // so that it has too many
		found = fmt.Sprintf("a list of %d items", len(n.items))
	}
	f := w.report(n.pos, InvalidValue, path, fmt.Sprintf("%s is %s, expected %s", path, found, s.expected()))
	near, ok := nearest(n.literal, s.choices)
	likely := s.likely(n)
	switch {
	case n.kind == text && outOfRange(s.id, n.literal):
		f.Hint = "no calendar has that day or that time: correct it"
	case s.hint != "":
		f.Hint = s.hint
	case likely != "":
		f.Hint = likely
	case n.kind == text && n.literal != "" && ok:
		f.Hint = fmt.Sprintf("did you mean %s?", near)
	case n.kind == null:
		f.Hint = "leave the field out, or give it a value"
	case n.kind == incomplete:
		f.Hint = "give it one concrete value"
	case (n.kind == number || n.kind == boolean) && s.accepts(&node{kind: text, literal: n.literal}):
		f.Hint = fmt.Sprintf("put it in quotes: %q", n.literal)
	}
}

// expected says what the schema allows here, in words.
func (s *shape) expected() string {
	switch {
	case s.expect != "":
		return s.expect
	case len(s.choices) == 1:
		return s.choices[0]
	case len(s.choices) > 1:
		return "one of " + strings.Join(s.choices, ", ")
	case s.kinds == cue.BoolKind:
		return "true or false"
	case s.kinds == cue.ListKind:
		return "a list"
	case s.each != nil:
		return "a mapping from " + s.keys.expected() + " to " + s.each.expected()
	default:
		return "a mapping with the fields " + strings.Join(s.names, ", ")
	}
}

func describe(n *node) string {
	switch n.kind {
	case list:
		if len(n.items) == 0 {
			return "an empty list"
		}
		return n.kind.String()
	case text:
		return fmt.Sprintf("%q", clip(n.literal))
	case number, boolean, incomplete, outsize:
		return n.kind.String() + " " + clip(n.literal)
	default:
		return n.kind.String()
	}
}

// clip keeps a finding on one line of a terminal.
func clip(s string) string {
	return clipTo(s, 60)
}

// clipTo cuts a text to so many characters.
func clipTo(s string, limit int) string {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	end := 0
	for range limit {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return s[:end] + "…"
}
