package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/simulate"
)

var update = flag.Bool("update", false, "write what is drawn into testdata")

// planned is a plan with one decision on istiod and one of a Service.
func planned() *plan.Plan {
	return &plan.Plan{Cluster: "small", Decisions: []plan.Decision{
		{
			Subject: "istiod.replicas.max", Value: int64(8), Unit: "replicas", Reason: "twice the event", Source: "the formula",
			Terms: []plan.Term{{Name: "N", Value: big.NewRat(4, 1), Unit: "replicas", From: "istiod.replicas.event.sale"}, {Name: "max", Value: big.NewRat(8, 1), Unit: "replicas", Formula: "2 * N"}},
			Pos:   diag.Pos{File: "clusters/small/profile.yaml", Line: 3, Column: 5},
		},
		{Subject: "service/shop/cart.trafficDistribution", Reason: "not of istiod"},
	}}
}

func found() diag.List {
	return diag.List{{
		Severity: diag.Warning, ID: "plan/running-unsafe", Pos: diag.Pos{File: "clusters/small/profile.yaml", Line: 9, Column: 7},
		Message: "the threshold runs at 100", Hint: "applying the plan sets it to 80",
	}}
}

// small is a day of three minutes.
func small() simulate.Report {
	r := bigDay()
	r.Cluster, r.Event = "small", "sale"
	r.Marks = []simulate.Mark{{Minute: 1, Name: "start"}}
	for i := range r.Worlds {
		r.Worlds[i].Series = r.Worlds[i].Series[168:171]
		for k := range r.Worlds[i].Series {
			r.Worlds[i].Series[k].Minute = float64(k)
		}
	}
	return r
}

func pageOf(t *testing.T, r simulate.Report) string {
	t.Helper()
	data, err := HTML(&r, planned(), found())
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func drawingOf(t *testing.T, r simulate.Report) string {
	t.Helper()
	data, err := SVG(&r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestASmallDay(t *testing.T) {
	unstyled := strings.Replace(pageOf(t, small()), pageStyle, "", 1)
	for file, got := range map[string]string{"small.html": unstyled, "small.svg": drawingOf(t, small())} {
		t.Run(file, func(t *testing.T) {
			if *update {
				if err := os.WriteFile("testdata/"+file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile("testdata/" + file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// days are reports that are as they should be, and such as never should be.
func days() map[string]simulate.Report {
	bare, broken, hostile := small(), small(), small()
	for i := range bare.Worlds {
		bare.Worlds[i].Series = nil
	}
	for i := range broken.Worlds {
		broken.Worlds[i].Series[1].Share = simulate.Band{Low: math.NaN(), Median: math.Inf(1), High: math.NaN(), Worst: math.Inf(-1)}
		broken.Worlds[i].MinutesToBalance.P99 = math.NaN()
		broken.Worlds[i].Series[2].Connections = math.MaxFloat64
	}
	hostile.Event, hostile.Cluster, hostile.Faults = attack, attack, []string{attack}
	hostile.Marks[0].Name, hostile.Notes[0], hostile.Start = attack, attack, attack
	hostile.Worlds[0].Name, hostile.Worlds[0].Settings[0] = attack, simulate.Setting{Name: attack, Value: attack, From: attack}
	one := small()
	one.Worlds = one.Worlds[:1]
	return map[string]simulate.Report{
		"a big day": bigDay(), "a day of three minutes": small(), "a day without samples": bare, "numbers that are none": broken,
		"names that are markup": hostile, "one world": one, "an empty report": {},
	}
}

const attack = `"><script>alert('&')</script><img src=x onerror=y>`

func TestThePageNeedsNothingElse(t *testing.T) {
	for name, r := range days() {
		t.Run(name, func(t *testing.T) {
			page, err := html.Parse(strings.NewReader(pageOf(t, r)))
			if err != nil {
				t.Fatal(err)
			}
			for n := range page.Descendants() {
				judgeElement(t, n)
			}
		})
	}
}

func judgeElement(t *testing.T, n *html.Node) {
	t.Helper()
	if n.Type != html.ElementNode {
		return
	}
	switch n.Data {
	case "script", "link", "img", "iframe", "object", "embed", "base", "form", "image", "use", "foreignobject":
		t.Errorf("the page has a %s", n.Data)
	case "style":
		if text := n.FirstChild.Data; strings.Contains(text, "url(") || strings.Contains(text, "@import") {
			t.Error("the style asks for another file")
		}
	}
	for _, a := range n.Attr {
		if a.Key == "src" || a.Key == "href" || strings.HasPrefix(a.Key, "on") {
			t.Errorf("%s has %s=%q", n.Data, a.Key, a.Val)
		}
	}
}

func TestADrawingIsWellFormed(t *testing.T) {
	for name, r := range days() {
		t.Run(name, func(t *testing.T) {
			drawing := drawingOf(t, r)
			decoder := xml.NewDecoder(strings.NewReader(drawing))
			for {
				_, err := decoder.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if strings.Contains(drawing, "NaN") || strings.Contains(drawing, "Inf") {
				t.Error("a coordinate is no number")
			}
		})
	}
}

// Whatever of a report moves must move the page, or a reader would miss it.
func TestEveryFieldIsShown(t *testing.T) {
	r := small()
	r.Worlds[0].Settings = r.Worlds[0].Settings[:1]
	before := pageOf(t, r)
	each(reflect.ValueOf(&r).Elem(), "report", func(path string, leaf reflect.Value) {
		if strings.HasPrefix(path, "report.Worlds.1") {
			return // shown by the same code as the first, but for the demand, which is the same
		}
		old := reflect.ValueOf(leaf.Interface())
		bend(leaf)
		if pageOf(t, r) == before {
			t.Errorf("the page does not show %s", path)
		}
		leaf.Set(old)
	})
}

func each(v reflect.Value, path string, visit func(string, reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			each(v.Field(i), path+"."+v.Type().Field(i).Name, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			each(v.Index(i), fmt.Sprintf("%s.%d", path, i), visit)
		}
	default:
		visit(path, v)
	}
}

func bend(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "0")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Float64:
		v.SetFloat(v.Float()*0.5 + 0.3)
	case reflect.Int:
		v.SetInt(v.Int() + 1)
	case reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	}
}

func TestNumbersAreThoseOfTheJSON(t *testing.T) {
	data, err := json.Marshal(bigDay())
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`data-path="([^"]+)" data-value="([^"]+)"`).FindAllStringSubmatch(pageOf(t, bigDay()), -1)
	if len(shown) < 2*(8*3+3) {
		t.Errorf("%d numbers are shown", len(shown))
	}
	for _, m := range shown {
		if got := at(document, strings.Split(m[1], ".")); fmt.Sprint(got) != m[2] {
			t.Errorf("%s is %v in the JSON, %s in the page", m[1], got, m[2])
		}
	}
}

func at(v any, path []string) any {
	if len(path) == 0 {
		return v
	}
	if list, ok := v.([]any); ok {
		var i int
		fmt.Sscan(path[0], &i)
		return at(list[i], path[1:])
	}
	object, _ := v.(map[string]any)
	return at(object[path[0]], path[1:])
}

func TestAPageSaysIt(t *testing.T) {
	page := pageOf(t, small())
	for what, want := range map[string]string{
		"the verdict in a word":              `<span class="word">✕ Unsafe</span>`,
		"the verdict in a sentence":          "pods are killed in 95 of 100 trials, 5 at the median and 12 at worst.",
		"what is unsafe, beside its number":  `data-value="1.013">101.3` + "\u00a0" + `%</span> <small>over limit</small>`,
		"the day":                            "Saturday 19 December 2026, from 05:30 UTC",
		"the derivation, as explain says it": "  arithmetic\n    max = 2 × N\n",
		"a place below the profile's folder": "answers to: profile.yaml:3:5",
		"a finding":                          "the threshold runs at 100",
		"the command":                        "meshgen simulate PROFILE --event sale --fault zone@19m --trials 100 --seed 1 --tolerate 0.01 -o html",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s: %q", what, want)
		}
	}
	if strings.Contains(page, "trafficDistribution") || strings.Contains(page, "clusters/") {
		t.Error("the page has what it should not")
	}
}

func TestManyFindingsOfAKindAreCounted(t *testing.T) {
	var many diag.List
	for i := range 10 {
		many = append(many, diag.Finding{Severity: diag.Warning, ID: "plan/x", Message: fmt.Sprintf("number %d", i)})
	}
	r := small()
	page, err := HTML(&r, planned(), many)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(page), "plan/x"); n != shown || !strings.Contains(string(page), ", and 2 more, which") {
		t.Errorf("%d findings are shown, want %d and a count of the others", n, shown)
	}
}
