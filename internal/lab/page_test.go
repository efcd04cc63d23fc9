package lab

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// measured are the results that the page is of.
func measured(t *testing.T) *Results {
	t.Helper()
	file, err := os.Open("../../docs/lab.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Real istiods have shared their connections as the simulation does, in every
// second.
func TestThePageIsOfWhatWasMeasured(t *testing.T) {
	page, drawing, err := Page(measured(t))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "../../docs/lab.md", page)
	golden(t, "../../docs/lab.svg", drawing)
	if !strings.Contains(string(page), "; 100 %\nof what was measured lies in it") {
		t.Error("the page does not say that all of what was measured lies in the corridor")
	}
}

// The law that the lab is held against is the one of its page.
func TestTheLawIsThePages(t *testing.T) {
	text, err := os.ReadFile("../../docs/law.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{
		"heap at rest     = 19.3 MB + 30 kB·C + 810 B·E\n",
		"heap at the push = 1.5 · heap at rest + min(C, M / 500 B) · buffer(M)\n",
		fmt.Sprintf("M = v·%d·E", messageBytes),
	} {
		if !strings.Contains(string(text), says) {
			t.Errorf("docs/law.md does not say %q", says)
		}
	}
}

func TestResultsThatAreNone(t *testing.T) {
	for name, text := range map[string]string{
		"a field that is unknown": `{"runs": [], "other": 1}`,
		"nothing":                 ``,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Read(strings.NewReader(text)); err == nil {
				t.Error("no error")
			}
		})
	}
	for name, r := range map[string]*Results{
		"without runs":           {},
		"without redistribution": {Runs: []Run{{Proxies: 1, Endpoints: 1, Seen: 1}}},
		"of other seconds":       {Runs: []Run{{Proxies: 1, Endpoints: 1, Seen: 1}}, Redistribution: [][]int32{{1}, {2}, {3}}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := Page(r); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestFigures(t *testing.T) {
	rows := rowsOf([]Run{
		{Proxies: 100, Endpoints: 1000, Seen: 1000, Rest: Usage{Heap: 30e6}, Sent: map[string]int64{"EDS": 73_000, "CDS": 27_000}},
		{Sidecars: true, Proxies: 100, Endpoints: 1000, Seen: 100},
		{Proxies: 100, Endpoints: 1000, Seen: 1000, Rest: Usage{Heap: 20e6}, Sent: map[string]int64{"EDS": 73_000, "CDS": 27_000}},
	})
	if len(rows) != 2 || len(rows[0].runs) != 2 || rows[1].Sidecars != "yes" {
		t.Fatalf("%+v", rows)
	}
	for name, c := range map[string]struct{ got, want string }{
		"the median, between which the runs lie":   {rows[0].Rest().Measured.MB(), "25.0 (20.0–30.0)"},
		"19.3 MB + 100 · 30 kB + 1,000 · 810 B":    {rows[0].Rest().MB(), "23.1"},
		"an error is a share of what was measured": {rows[0].Rest().Percent(), "-8 %"},
		"1.5 of that and 100 buffers of 1 MiB":     {rows[0].Peak().MB(), "139.5"},
		"a message of 7,300 B waits 14.6 times":    {rows[1].Peak().MB(), "34.9"},
		"0.008 core·s + 0.08 core·s for each MB":   {rows[0].Connect().Core(), "0.016"},
		"types are added up":                       {rows[0].Configuration().Million(), "0.100"},
		"bytes an endpoint":                        {rows[0].Each(), "73.0"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", name, c.got, c.want)
		}
	}
	if e := rows[0].Message().Error(); math.Abs(e) > 1e-9 {
		t.Errorf("the message is as long as the law has it, error %v", e)
	}
}

// What the page says of its figures is so: where the law holds within 20 %, and
// what it blames where it does not.
func TestThePageExplainsItsFigures(t *testing.T) {
	rows := rowsOf(measured(t).Runs)
	each, perMB := line(rows)
	says := map[string]bool{
		"CPU for a proxy is the law's":        math.Abs(each/0.008-1) <= 0.3,
		"CPU for each MB is less":             perMB < 0.08,
		"it is measured with few and many":    rows[0].Proxies == 100 && rows[1].Proxies == 300,
		"it is measured with Sidecars and no": rows[0].Sidecars == "no" && rows[3].Sidecars == "yes",
	}
	for _, r := range rows {
		name := fmt.Sprintf("Sidecars %s, %d proxies: ", r.Sidecars, r.Proxies)
		extra := (r.PerConnection().Median - perConnection) / float64(r.Clusters)
		says[name+"the heap alone is within 20 %"] = math.Abs(r.Alone().Error()) <= 0.2
		says[name+"the message is within 20 %"] = math.Abs(r.Message().Error()) <= 0.2
		says[name+"a few hundred bytes a cluster"] = 200 <= extra && extra <= 600
		says[name+"clusters and routes are most, or near half"] = r.Of("CDS").Median+r.Of("RDS").Median >= 0.45*r.Configuration().Median
		if r.Proxies == 300 {
			says[name+"fewer messages wait than the law has"] = r.Waiting().Measured.Most < r.Waiting().Predicted
		}
		says[name+"the careful end is above the median"] = r.Careful().Error() >= 0
		says[name+"no run takes a fifth more than the careful end"] = r.Peak().Measured.Most <= 1.2*r.Careful().Predicted
	}
	for sentence, so := range says {
		if !so {
			t.Error(sentence)
		}
	}
}
