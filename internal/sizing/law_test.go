package sizing

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
)

// measured is one run of a real istiod: heap in MB.
type measured struct {
	Endpoints int64
	Proxies   int64
	Sidecar   *string
	Rest      float64 `json:"heap_connected_MB"`
	Peak      float64 `json:"heap_push_peak_MB"`
	Config    float64 `json:"config_per_proxy_MB"`

	HeapIdle float64 `json:"heap_idle_MB"`
	RSSIdle  float64 `json:"rss_idle_MiB"`
	RSSPeak  float64 `json:"rss_push_peak_MiB"`
}

// visible is the share of the endpoints that a proxy sees: with a Sidecar it is
// one namespace of ten.
func (m measured) visible() *big.Rat {
	if m.Sidecar == nil {
		return big.NewRat(1, 1)
	}
	return big.NewRat(1, 10)
}

// name is the row's key in docs/law.md: endpoints, proxies, Sidecars.
func (m measured) name() string {
	sidecars := "no"
	if m.Sidecar != nil {
		sidecars = "yes"
	}
	return fmt.Sprintf("%s | %d | %s", grouped(m.Endpoints), m.Proxies, sidecars)
}

// grouped is a whole number of up to six digits as the page writes it.
func grouped(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

func measurements(t testing.TB) []measured {
	t.Helper()
	text, err := os.ReadFile("testdata/istiod_measured.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []measured }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Rows) != 12 {
		t.Fatalf("%d rows, want 12", len(file.Rows))
	}
	return file.Rows
}

// published is the law of docs/law.md: the fit to the twelve rows, rounded.
func published() PushLaw {
	return PushLaw{
		Base: new(big.Rat), Heap: big.NewRat(193e5, 1), PerConnection: big.NewRat(30e3, 1), PerEndpoint: big.NewRat(810, 1),
		Growth: big.NewRat(3, 2), Message: big.NewRat(73, 1), Waiting: big.NewRat(500, 1), Visible: big.NewRat(1, 1),
	}
}

// in is the law's prediction for a row, in MB.
func (l PushLaw) in(m measured) (rest, peak float64) {
	l.Visible = m.visible()
	c, e := big.NewRat(m.Proxies, 1), big.NewRat(m.Endpoints, 1)
	rest, _ = l.Rest(c, e).Float64()
	peak, _ = l.Peak(c, e).Float64()
	return rest / 1e6, peak / 1e6
}

// off is by how much the law errs on a row, as shares of what was measured.
func (l PushLaw) off(m measured) (rest, peak float64) {
	rest, peak = l.in(m)
	return rest/m.Rest - 1, peak/m.Peak - 1
}

// page is docs/law.md.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/law.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// table is the rows of the page's table with a first header cell, by their
// first cells, as many as the key has.
func table(t *testing.T, header string, keys int) map[string]string {
	t.Helper()
	_, below, ok := strings.Cut(page(t), "\n| "+header+" |")
	if !ok {
		t.Fatalf("docs/law.md has no table of %s", header)
	}
	body, _, _ := strings.Cut(below, "\n\n")
	rows := map[string]string{}
	for _, line := range strings.Split(body, "\n")[2:] {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		rows[strings.Join(cells[:keys], " | ")] = strings.Join(cells[keys:], " | ")
	}
	return rows
}

// The table of docs/law.md is what is wanted: every row within a fifth, by the
// published law and by one that has not seen the row.
func TestTheLawPredictsEveryRowWithinAFifth(t *testing.T) {
	rows := measurements(t)
	got := map[string]string{}
	for i, row := range rows {
		rest, peak := published().in(row)
		offRest, offPeak := published().off(row)
		unseenRest, unseenPeak := fitted(slices.Concat(rows[:i], rows[i+1:])).off(row)
		got[row.name()] = fmt.Sprintf("%.1f | %.1f | %s | %s | %.1f | %.1f | %s | %s",
			row.Rest, rest, percent(offRest), percent(unseenRest), row.Peak, peak, percent(offPeak), percent(unseenPeak))
		for _, off := range []float64{offRest, offPeak, unseenRest, unseenPeak} {
			if math.Abs(off) > 0.20 {
				t.Errorf("%s: %s", row.name(), got[row.name()])
			}
		}
	}
	if diff := cmp.Diff(table(t, "endpoints", 3), got); diff != "" {
		t.Error(diff)
	}
}

func percent(share float64) string { return fmt.Sprintf("%+.1f %%", 100*share) }

// leastSquares is the coefficients of terms whose sum comes nearest to what was
// measured, in squares of the relative error.
func leastSquares(rows []measured, of func(measured) float64, terms ...func(measured) float64) []float64 {
	columns, ones := mat.NewDense(len(rows), len(terms), nil), mat.NewVecDense(len(rows), nil)
	for i, row := range rows {
		ones.SetVec(i, 1)
		for j, term := range terms {
			columns.Set(i, j, term(row)/of(row))
		}
	}
	var x mat.VecDense
	if err := x.SolveVec(columns, ones); err != nil {
		panic(err)
	}
	return x.RawVector().Data
}

func one(measured) float64         { return 1 }
func proxies(m measured) float64   { return float64(m.Proxies) }
func endpoints(m measured) float64 { return float64(m.Endpoints) }
func rest(m measured) float64      { return m.Rest }
func peak(m measured) float64      { return m.Peak }

// fitted is the law with its five coefficients fitted to rows: three to the heap
// at rest, in bytes, then Growth and Waiting to the peak.
func fitted(rows []measured) PushLaw {
	l := published()
	x := leastSquares(rows, rest, one, proxies, endpoints)
	l.Heap, l.PerConnection, l.PerEndpoint = parts(x[0], 1e6, 1), parts(x[1], 1e6, 1), parts(x[2], 1e6, 1)
	least := math.Inf(1)
	for every := int64(400); every <= 600; every += 5 {
		tried := l
		tried.Waiting = big.NewRat(every, 1)
		tried.Growth = parts(tried.growth(rows), 1, 1000)
		if squares := tried.squares(rows); squares < least {
			least, l.Waiting, l.Growth = squares, tried.Waiting, tried.Growth
		}
	}
	return l
}

// parts is x times a unit, to the nearest of so many parts of one.
func parts(x, unit float64, of int64) *big.Rat {
	return big.NewRat(int64(math.Round(x*unit*float64(of))), of)
}

// growth is the Growth that fits rows best, all else as the law has it.
func (l PushLaw) growth(rows []measured) float64 {
	l.Growth = new(big.Rat)
	products, squares := 0.0, 0.0
	for _, row := range rows {
		rest, buffers := l.in(row)
		share := rest / row.Peak
		products += share * (1 - buffers/row.Peak)
		squares += share * share
	}
	return products / squares
}

func (l PushLaw) squares(rows []measured) float64 {
	sum := 0.0
	for _, row := range rows {
		_, off := l.off(row)
		sum += off * off
	}
	return sum
}

// The published coefficients are the fitted ones, rounded.
func TestThePublishedCoefficientsAreFitted(t *testing.T) {
	l := fitted(measurements(t))
	for name, c := range map[string]struct{ published, fitted *big.Rat }{
		"heap without proxies and endpoints":     {published().Heap, l.Heap},
		"bytes of a connection":                  {published().PerConnection, l.PerConnection},
		"bytes of an endpoint":                   {published().PerEndpoint, l.PerEndpoint},
		"garbage":                                {published().Growth, l.Growth},
		"bytes of a message for each that waits": {published().Waiting, l.Waiting},
	} {
		ratio, _ := new(big.Rat).Quo(c.published, c.fitted).Float64()
		if math.Abs(ratio-1) > 0.02 {
			t.Errorf("%s: %s is published, %s is fitted", name, c.published.FloatString(4), c.fitted.FloatString(4))
		}
	}
}

// Laws of other terms do not follow the rows: the table of docs/law.md says by
// how much.
func TestOtherLawsMiss(t *testing.T) {
	rows := measurements(t)
	atRest := func(m measured) float64 { x, _ := published().in(m); return x }
	seen := func(m measured) float64 { share, _ := m.visible().Float64(); return share * endpoints(m) }
	buffers := func(m measured) float64 {
		message := published().MessageBytes(new(big.Rat).Mul(m.visible(), big.NewRat(m.Endpoints, 1)))
		bytes, _ := SendBuffer(message).Float64()
		return proxies(m) * bytes
	}
	got := map[string]string{}
	for name, terms := range map[string][]func(measured) float64{
		"base + k·C·E":                             {one, func(m measured) float64 { return proxies(m) * endpoints(m) }},
		"base + k·C·v·E":                           {one, func(m measured) float64 { return proxies(m) * seen(m) }},
		"base + b·C + e·E + k·C·v·E":               {one, proxies, endpoints, func(m measured) float64 { return proxies(m) * seen(m) }},
		"g·rest + copies·min(C, 20)·configuration": {atRest, func(m measured) float64 { return min(proxies(m), 20) * m.Config }},
		"g·rest + copies·C·configuration":          {atRest, func(m measured) float64 { return proxies(m) * m.Config }},
		"g·rest + copies·C·M":                      {atRest, func(m measured) float64 { return proxies(m) * seen(m) }},
		"g·rest + copies·C·buffer(M)":              {atRest, buffers},
	} {
		x := leastSquares(rows, peak, terms...)
		missed, worst := 0, 0.0
		for _, row := range rows {
			off := -1.0
			for i, term := range terms {
				off += x[i] * term(row) / row.Peak
			}
			if math.Abs(off) > 0.20 {
				missed++
			}
			if math.Abs(off) > math.Abs(worst) {
				worst = off
			}
		}
		got[name] = fmt.Sprintf("%d | %d | %+.0f %%", len(terms), missed, 100*worst)
	}
	if diff := cmp.Diff(table(t, "law", 1), got); diff != "" {
		t.Error(diff)
	}
}

func scoped(rows []measured, yes bool) []measured {
	var some []measured
	for _, row := range rows {
		if (row.Sidecar != nil) == yes {
			some = append(some, row)
		}
	}
	return some
}

// What docs/law.md says besides its tables, each number as it is computed.
func TestThePageSaysWhatWasMeasured(t *testing.T) {
	rows := measurements(t)
	open, within := scoped(rows, false), scoped(rows, true)
	config := func(m measured) float64 { return m.Config * 1e6 }
	perConnection := func(rows []measured) float64 { return leastSquares(rows, rest, one, proxies, endpoints)[1] * 1e3 }
	least, most, process := 0.0, 0.0, 0.0
	for _, row := range rows {
		outside := row.RSSIdle*1.048576 - row.HeapIdle
		off := (row.Peak+outside)/(row.RSSPeak*1.048576) - 1
		least, most, process = min(least, off), max(most, off), process+outside/float64(len(rows))
	}
	words := strings.Join(strings.Fields(page(t)), " ")
	for _, claim := range []string{
		fmt.Sprintf("%.1f MB + %.0f kB·C + %.0f B·E", in(published().Heap, 1e6), in(published().PerConnection, 1e3), in(published().PerEndpoint, 1)),
		fmt.Sprintf("%.1f · heap at rest + min(C, M / %.0f B) · buffer(M)", in(published().Growth, 1), in(published().Waiting, 1)),
		fmt.Sprintf("v·%.0f·E is the message", in(published().Message, 1)),
		fmt.Sprintf("%.0f and %.0f B with and without Sidecars", 10*leastSquares(within, config, one, endpoints)[1], leastSquares(open, config, one, endpoints)[1]),
		fmt.Sprintf("%.0f kB with Sidecars and %.0f kB without", perConnection(within), perConnection(open)),
		fmt.Sprintf("the process (about %.0f MB here)", process),
		fmt.Sprintf("up to %.0f %% more than the peak of RSS, and up to %.0f %% less", 100*most, -100*least),
		fmt.Sprintf("a message of %.0f kB) and far less at 8,000 (%.0f kB)", in(published().MessageBytes(big.NewRat(400, 1)), 1e3), in(published().MessageBytes(big.NewRat(800, 1)), 1e3)),
		fmt.Sprintf("base: %.0fM, bytesPerConnection: %.0f, bytesPerEndpoint: %.0f, heapGrowth: %.1f, messageBytesPerEndpoint: %.0f, bytesPerWaitingMessage: %.0f",
			process+in(published().Growth, 1)*in(published().Heap, 1e6), in(published().PerConnection, 1), in(published().PerEndpoint, 1), in(published().Growth, 1), in(published().Message, 1), in(published().Waiting, 1)),
		fmt.Sprintf("266 connections at 5,400 endpoints, %.0f MB", in(bigsale().Memory.Peak(big.NewRat(266, 1), big.NewRat(5400, 1)), 1e6)),
		fmt.Sprintf("%.0f MB with the process, one buffer a connection", process+in(published().Peak(big.NewRat(266, 1), big.NewRat(5400, 1)), 1e6)),
		fmt.Sprintf("up to %d endpoints that a proxy sees", (32<<10)/73),
		fmt.Sprintf("more than %s endpoints that a proxy sees", grouped((1<<20)/73)),
	} {
		if !strings.Contains(words, claim) {
			t.Errorf("docs/law.md does not say %q", claim)
		}
	}
}

// in is a coefficient in a unit.
func in(r *big.Rat, unit float64) float64 {
	x, _ := r.Float64()
	return x / unit
}

func TestSendBuffer(t *testing.T) {
	for name, c := range map[string]struct{ message, buffer int64 }{
		"a message of 1 KiB is not pooled":        {1 << 10, 1 << 10},
		"a byte more has a page":                  {1<<10 + 1, 4 << 10},
		"a frame":                                 {16 << 10, 16 << 10},
		"32 KiB":                                  {32 << 10, 32 << 10},
		"a byte more has 1 MiB":                   {32<<10 + 1, 1 << 20},
		"a message of more than 1 MiB has itself": {1<<20 + 1, 1<<20 + 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := SendBuffer(big.NewRat(c.message, 1)); got.Cmp(big.NewRat(c.buffer, 1)) != 0 {
				t.Errorf("%s, want %d", got.RatString(), c.buffer)
			}
		})
	}
}

// NSafe and Peak are each other's inverse; more memory holds more connections,
// more endpoints hold fewer.
func TestWhatAPodMayHold(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	for range 2000 {
		l := randomLaw(random)
		e := big.NewRat(1+random.Int64N(40000), 1)
		room := big.NewRat(random.Int64N(4<<30), 1)
		safe := l.NSafe(room, e)
		if safe.Sign() > 0 && l.Peak(safe, e).Cmp(room) != 0 {
			t.Fatalf("%s connections at %s endpoints take %s, of %s", safe.FloatString(3), e.RatString(), l.Peak(safe, e).FloatString(3), room.RatString())
		}
		if safe.Sign() <= 0 && l.Peak(new(big.Rat), e).Cmp(room) < 0 {
			t.Fatalf("%s bytes at %s endpoints are enough for some", room.RatString(), e.RatString())
		}
		more := new(big.Rat).Add(room, big.NewRat(random.Int64N(1<<30), 1))
		if l.NSafe(more, e).Cmp(safe) < 0 {
			t.Fatalf("%s bytes hold fewer than %s at %s endpoints", more.RatString(), room.RatString(), e.RatString())
		}
		busier := new(big.Rat).Add(e, big.NewRat(random.Int64N(5000), 1))
		if safe.Sign() > 0 && l.NSafe(room, busier).Cmp(safe) > 0 {
			t.Fatalf("%s bytes hold more at %s endpoints than at %s", room.RatString(), busier.RatString(), e.RatString())
		}
	}
}

func randomLaw(random *rand.Rand) Memory {
	if random.Int64N(3) == 0 {
		return FieldLaw{Base: big.NewRat(240e6, 1), PerConnection: big.NewRat(random.Int64N(50e3), 1), PerConnectionEndpoint: big.NewRat(1+random.Int64N(500), 1)}
	}
	l := published()
	l.Visible = big.NewRat(1+random.Int64N(10), 10)
	if random.Int64N(3) == 0 {
		l.Waiting = nil
	}
	return l
}
