package change

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// window is the time that an event is scaled for: dated, or on some days of a week
// in a zone.
type window struct {
	dated      span
	days       []string
	start, end int // minutes of the day; an end before the start is on the next
	zone       string
}

// windowOf reads a decision's window: "start/end" or "Mon,Tue 11:06-13:30 Asia/Seoul".
func windowOf(value any) (w window, ok bool) {
	text, _ := value.(string)
	if w.dated, ok = spanOf(text); ok {
		return w, true
	}
	parts := strings.Fields(text)
	if len(parts) != 3 {
		return w, false
	}
	start, end, _ := strings.Cut(parts[1], "-")
	w.days, w.zone = strings.Split(parts[0], ","), parts[2]
	var okStart, okEnd bool
	w.start, okStart = minuteOf(start)
	w.end, okEnd = minuteOf(end)
	return w, okStart && okEnd
}

func minuteOf(clock string) (minute int, ok bool) {
	h, m, _ := strings.Cut(clock, ":")
	hour, errH := strconv.Atoi(h)
	minute, errM := strconv.Atoi(m)
	return hour*60 + minute, errH == nil && errM == nil
}

const day = 24 * 60

// daily is how many minutes the window has on one of its days.
func (w window) daily() int { return (w.end-w.start+day-1)%day + 1 }

// length is the window's time, or of one week.
func (w window) length() time.Duration {
	if len(w.days) == 0 {
		return w.dated.end.Sub(w.dated.start)
	}
	return time.Duration(len(w.days)*w.daily()) * time.Minute
}

// covers reports whether the window has all of another's time; of two kinds or two
// zones none is known to.
func (w window) covers(o window) bool {
	if len(w.days) == 0 && len(o.days) == 0 {
		return !w.dated.start.After(o.dated.start) && !w.dated.end.Before(o.dated.end)
	}
	missing := slices.ContainsFunc(o.days, func(d string) bool { return !slices.Contains(w.days, d) })
	return w.zone == o.zone && !missing && w.start <= o.start && w.start+w.daily() >= o.start+o.daily()
}
