package change

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

func equal(before, after any) bool { return reflect.DeepEqual(before, after) }

// distance is how far a value moved, where that can be said.
func distance(before, after any) string {
	switch a := after.(type) {
	case int64:
		if b, ok := before.(int64); ok {
			return fmt.Sprintf("%+d", a-b) + percent(float64(b), float64(a))
		}
	case string:
		if b, ok := before.(string); ok {
			return textDistance(b, a)
		}
	case []string:
		b, _ := before.([]string)
		gone, new := difference(b, a)
		return list(counted(len(new), "added"), counted(len(gone), "removed"))
	}
	return ""
}

func textDistance(before, after string) string {
	b, errB := time.ParseDuration(before)
	a, errA := time.ParseDuration(after)
	if errB == nil && errA == nil {
		return sign(a-b) + duration(a-b) + percent(float64(b), float64(a))
	}
	bs, okB := spanOf(before)
	as, okA := spanOf(after)
	if !okB || !okA {
		return ""
	}
	return list(shift("starts", as.start.Sub(bs.start)), shift("ends", as.end.Sub(bs.end)))
}

func shift(what string, by time.Duration) string {
	switch {
	case by == 0:
		return ""
	case by < 0:
		return what + " " + duration(by) + " earlier"
	}
	return what + " " + duration(by) + " later"
}

// span is a dated window.
type span struct{ start, end time.Time }

// spanOf reads a window as the plan has it: "start/end" in RFC 3339.
func spanOf(text string) (s span, ok bool) {
	start, end, ok := strings.Cut(text, "/")
	if !ok {
		return s, false
	}
	var errs [2]error
	s.start, errs[0] = time.Parse(time.RFC3339, start)
	s.end, errs[1] = time.Parse(time.RFC3339, end)
	return s, errs[0] == nil && errs[1] == nil
}

// percent is the change as a share, to three digits; empty where there was nothing.
func percent(before, after float64) string {
	if before == 0 {
		return ""
	}
	share := 100 * (after - before) / before
	if share > -100 && share < 100 {
		return fmt.Sprintf(", %+.3g %%", share)
	}
	return fmt.Sprintf(", %+.0f %%", share)
}

func sign(d time.Duration) string {
	if d < 0 {
		return "-"
	}
	return "+"
}

// duration is the length in the units that a person writes: "1h30m".
func duration(d time.Duration) string {
	text := d.Abs().String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// difference are the items that only one of two lists has, in their order.
func difference(before, after []string) (gone, new []string) {
	for _, item := range before {
		if !slices.Contains(after, item) {
			gone = append(gone, item)
		}
	}
	for _, item := range after {
		if !slices.Contains(before, item) {
			new = append(new, item)
		}
	}
	return gone, new
}

// counted is a count and what it counts; empty for none.
func counted(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s", n, what)
}

// list are the texts that are there, with commas.
func list(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), ", ")
}
