// Package report_test looks at a simulated day as people do: in a browser.
package report_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// simulated are the report of bigsale with a zone lost in both formats, made once
// by the product's own binary.
var simulated = sync.OnceValues(func() (day, error) {
	folder, err := os.MkdirTemp("", "report")
	if err != nil {
		return day{}, err
	}
	binary := filepath.Join(folder, "meshgen")
	build := exec.Command("go", "build", "-o", binary, "./cmd/meshgen")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		return day{}, &exec.Error{Name: string(out), Err: err}
	}
	d := day{folder: folder, page: filepath.Join(folder, "report.html")}
	if d.json, err = simulate(binary, "json"); err != nil {
		return d, err
	}
	page, err := simulate(binary, "html")
	if err != nil {
		return d, err
	}
	return d, os.WriteFile(d.page, page, 0o600)
})

type day struct {
	folder, page string
	json         []byte
}

func simulate(binary, format string) ([]byte, error) {
	return exec.Command(binary, "simulate", cluster.Example("bigsale"), "--fault", "zone", "--trials", "4", "-o", format).Output()
}

func TestMain(m *testing.M) {
	code := m.Run()
	if d, _ := simulated(); d.folder != "" {
		os.RemoveAll(d.folder)
	}
	os.Exit(code)
}

func simulatedDay(t *testing.T) day {
	t.Helper()
	d, err := simulated()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// number is a number as the page has it.
type number struct{ Path, Value, Text string }

// least is how many numbers the table of results has: eight with a median, P99 and
// worst, and three counts, in two worlds.
const least = 2 * (8*3 + 3)

func TestThePageHasTheNumbersOfTheJSON(t *testing.T) {
	d := simulatedDay(t)
	decoder := json.NewDecoder(bytes.NewReader(d.json))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		t.Fatal(err)
	}
	b := open(t)
	b.show(t, d.page, 1280, "light")
	shown := ask[[]number](t, b, `[...document.querySelectorAll("[data-path]")].map(e => ({Path: e.dataset.path, Value: e.dataset.value, Text: e.innerText}))`)
	if len(shown) < least {
		t.Errorf("the page has %d numbers, want %d", len(shown), least)
	}
	for _, n := range shown {
		want, ok := at(document, strings.Split(n.Path, ".")).(json.Number)
		if !ok || want.String() != n.Value {
			t.Errorf("%s is %s in the page, %v in the JSON", n.Path, n.Value, want)
		}
		if !rounds(want.String(), n.Text) {
			t.Errorf("%s reads %q, the JSON has %s", n.Path, n.Text, want)
		}
	}
}

func at(v any, path []string) any {
	if len(path) == 0 {
		return v
	}
	if list, ok := v.([]any); ok {
		i, err := strconv.Atoi(path[0])
		if err != nil || i >= len(list) {
			return nil
		}
		return at(list[i], path[1:])
	}
	object, _ := v.(map[string]any)
	return at(object[path[0]], path[1:])
}

// rounds reports whether a text is a number rounded to the text's decimals; a
// percentage is of a share.
func rounds(exact, text string) bool {
	value, ok := new(big.Rat).SetString(exact)
	if !ok {
		return false
	}
	text, isShare := strings.CutSuffix(strings.ReplaceAll(text, ",", ""), "\u00a0%")
	if isShare {
		value.Mul(value, big.NewRat(100, 1))
	}
	shown, ok := new(big.Rat).SetString(text)
	if !ok {
		return false
	}
	_, decimals, _ := strings.Cut(text, ".")
	half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(decimals))), nil))
	half.Quo(half, big.NewRat(2, 1))
	difference := value.Sub(value, shown)
	return difference.Abs(difference).Cmp(half) <= 0
}

func TestRounding(t *testing.T) {
	for name, c := range map[string]struct {
		exact, text string
		want        bool
	}{
		"a share as a percentage":   {"0.8571", "85.7\u00a0%", true},
		"another percentage":        {"0.8571", "85.8\u00a0%", false},
		"thousands":                 {"1234.4", "1,234", true},
		"a whole number, cut short": {"1234", "123", false},
		"no number":                 {"1", "–", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := rounds(c.exact, c.text); got != c.want {
				t.Errorf("rounds(%s, %s) = %v", c.exact, c.text, got)
			}
		})
	}
}

func TestThePageReadsEverywhere(t *testing.T) {
	d := simulatedDay(t)
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			b := open(t)
			for _, width := range []int64{390, 760, 1280} {
				b.show(t, d.page, width, scheme)
				if got := ask[int64](t, b, "document.documentElement.scrollWidth"); got > width {
					t.Errorf("at %d pixels the page is %d wide", width, got)
				}
			}
			if got := ask[bool](t, b, dark); got != (scheme == "dark") {
				t.Errorf("the page is dark: %v", got)
			}
			for _, complaint := range b.heard() {
				t.Error(complaint)
			}
		})
	}
}

// dark is whether the page's ground is, and the lines of its drawings are not.
const dark = `(() => {
	const sum = colour => colour.match(/\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0);
	const ground = sum(getComputedStyle(document.body).backgroundColor);
	const label = sum(getComputedStyle(document.querySelector("svg text")).fill);
	return ground < label;
})()`

func TestAPhoneShowsOneColumn(t *testing.T) {
	d := simulatedDay(t)
	b := open(t)
	for width, want := range map[int64]int{390: 1, 1280: 2} {
		b.show(t, d.page, width, "light")
		columns := `getComputedStyle(document.querySelector(".pair")).gridTemplateColumns.split(" ").length`
		if got := ask[int](t, b, columns); got != want {
			t.Errorf("at %d pixels drawings stand in %d columns, want %d", width, got, want)
		}
	}
}
