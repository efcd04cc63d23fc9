package calibrate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// illConditioned is where two terms are taken to be one: the condition number
// of the normal equations of terms that are scaled to one another.
const illConditioned = 1e10

// regression is a response for each row, and the terms that are to explain it,
// each with a value a row. A row is of one pod and one hour.
type regression struct {
	response    []float64
	terms       [][]float64
	pods, hours []int // which pod and hour, counted from 0 without a gap
}

// regressionOn is the regression of a response on terms, a row for each observation.
func regressionOn[T any](rows []T, response func(T) float64, pod func(T) string, hour func(T) int64, terms ...func(T) float64) regression {
	pods, hours := distinct(rows, pod), distinct(rows, hour)
	r := regression{response: values(rows, response)}
	for _, term := range terms {
		r.terms = append(r.terms, values(rows, term))
	}
	for _, row := range rows {
		r.pods = append(r.pods, pods[pod(row)])
		r.hours = append(r.hours, hours[hour(row)])
	}
	return r
}

func values[T any](rows []T, of func(T) float64) []float64 {
	all := make([]float64, 0, len(rows))
	for _, row := range rows {
		all = append(all, of(row))
	}
	return all
}

// distinct numbers the keys of rows in the order in which they come.
func distinct[T any, K comparable](rows []T, key func(T) K) map[K]int {
	numbers := map[K]int{}
	for _, row := range rows {
		if _, seen := numbers[key(row)]; !seen {
			numbers[key(row)] = len(numbers)
		}
	}
	return numbers
}

// fit is a regression's answer.
type fit struct {
	coefficients []float64
	errors       []float64 // standard errors
	fitted       []float64
	squares      float64 // sum of the squared residuals
	critical     float64 // Student's t of 95 % intervals
	freedom      float64
}

// solve is the least squares fit. Its standard errors hold where the residuals
// of one pod, and those of one hour, are correlated in any way: the variance is
// clustered both ways (Cameron, Gelbach and Miller 2011), each way by the
// jackknife over whole clusters (CV3, MacKinnon, Nielsen and Webb 2023), which
// errs to the wide side when clusters are few, less what both ways count, by the
// sandwich; it is not below that of either way alone. Intervals are Student's with one degree of freedom less than there are
// pods or hours. ok is false when the terms, or the terms without one of the pods
// or hours, cannot be told apart.
func (r regression) solve() (fit, bool) {
	scaled, scales := scaledTerms(r.terms)
	s := regression{r.response, scaled, r.pods, r.hours}
	total := s.sums(make([]int, len(s.response)), 1)[0]
	inverse, ok := total.factor()
	if !ok {
		return fit{}, false
	}
	b := solveWith(inverse, total.xy)
	pods, hours := 1+largest(r.pods), 1+largest(r.hours)
	byPod, okPod := s.jackknife(total, b, r.pods, pods)
	byHour, okHour := s.jackknife(total, b, r.hours, hours)
	if !okPod || !okHour {
		return fit{}, false
	}
	byBoth := s.sandwich(inverse, b)
	f := fit{freedom: float64(min(pods, hours) - 1)}
	f.critical = quantile(f.freedom, 0.975)
	for i := range b {
		variance := max(byPod[i]+byHour[i]-byBoth[i], byPod[i], byHour[i])
		f.errors = append(f.errors, math.Sqrt(variance)/scales[i])
		f.coefficients = append(f.coefficients, b[i]/scales[i])
	}
	f.fitted, f.squares = r.predict(f.coefficients)
	return f, true
}

// quantile is Student's.
func quantile(freedom, p float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile(p)
}

// coefficients are the least squares', without errors.
func (r regression) coefficients() ([]float64, bool) {
	scaled, scales := scaledTerms(r.terms)
	s := regression{response: r.response, terms: scaled}
	b, ok := s.sums(make([]int, len(s.response)), 1)[0].solve()
	for i := range b {
		b[i] /= scales[i]
	}
	return b, ok
}

// predict is the fitted responses, and the sum of the squared residuals.
func (r regression) predict(coefficients []float64) (fitted []float64, squares float64) {
	fitted = make([]float64, len(r.response))
	for i, b := range coefficients {
		for row, x := range r.terms[i] {
			fitted[row] += b * x
		}
	}
	for row, y := range r.response {
		squares += (y - fitted[row]) * (y - fitted[row])
	}
	return fitted, squares
}

// scaledTerms are the terms with a root mean square of 1, and what they
// were divided by.
func scaledTerms(terms [][]float64) (scaled [][]float64, scales []float64) {
	for _, term := range terms {
		squares := 0.0
		for _, x := range term {
			squares += x * x
		}
		scale := math.Sqrt(squares / float64(len(term)))
		if scale == 0 {
			scale = 1
		}
		values := make([]float64, len(term))
		for row, x := range term {
			values[row] = x / scale
		}
		scaled, scales = append(scaled, values), append(scales, scale)
	}
	return scaled, scales
}

// sums are the normal equations of some rows: XᵀX, row after row, and Xᵀy.
type sums struct{ xx, xy []float64 }

func newSums(terms int) sums {
	return sums{make([]float64, terms*terms), make([]float64, terms)}
}

// sums are those of each of n groups of rows.
func (r regression) sums(group []int, n int) []sums {
	k := len(r.terms)
	all := make([]sums, n)
	for g := range all {
		all[g] = newSums(k)
	}
	for row, y := range r.response {
		s := all[group[row]]
		for i := range k {
			x := r.terms[i][row]
			s.xy[i] += x * y
			for j := range k {
				s.xx[i*k+j] += x * r.terms[j][row]
			}
		}
	}
	return all
}

func (s sums) without(o sums) sums {
	rest := newSums(len(s.xy))
	for i := range s.xx {
		rest.xx[i] = s.xx[i] - o.xx[i]
	}
	for i := range s.xy {
		rest.xy[i] = s.xy[i] - o.xy[i]
	}
	return rest
}

// factor is XᵀX ready to be solved with; ok is false when the terms cannot be told
// apart.
func (s sums) factor() (*mat.Cholesky, bool) {
	var c mat.Cholesky
	ok := c.Factorize(mat.NewSymDense(len(s.xy), s.xx))
	return &c, ok && c.Cond() < illConditioned
}

func (s sums) solve() ([]float64, bool) {
	c, ok := s.factor()
	if !ok {
		return nil, false
	}
	return solveWith(c, s.xy), true
}

// solveWith solves with a factor that is well conditioned, which cannot fail.
func solveWith(c *mat.Cholesky, right []float64) []float64 {
	var b mat.VecDense
	_ = c.SolveVecTo(&b, mat.NewVecDense(len(right), right))
	return b.RawVector().Data
}

// jackknife is the variance of each coefficient from fits that leave one group
// out: (n − 1)/n times the sum of the squared differences from the whole's.
func (r regression) jackknife(total sums, whole []float64, group []int, n int) ([]float64, bool) {
	variance := make([]float64, len(whole))
	for _, s := range r.sums(group, n) {
		b, ok := total.without(s).solve()
		if !ok {
			return nil, false
		}
		for i := range b {
			variance[i] += (b[i] - whole[i]) * (b[i] - whole[i]) * float64(n-1) / float64(n)
		}
	}
	return variance, true
}

// sandwich is the variance of each coefficient when only the residuals of one pod
// in one hour are correlated.
func (r regression) sandwich(inverse *mat.Cholesky, b []float64) []float64 {
	cells, n := crossed(r.pods, r.hours)
	variance := make([]float64, len(b))
	for _, s := range r.sums(cells, n) {
		for i, d := range solveWith(inverse, s.score(b)) {
			variance[i] += d * d
		}
	}
	return variance
}

// score is Xᵀ times the residuals.
func (s sums) score(b []float64) []float64 {
	score := slices.Clone(s.xy)
	for i := range score {
		for j := range b {
			score[i] -= s.xx[i*len(b)+j] * b[j]
		}
	}
	return score
}

// crossed numbers the pairs of two groupings, and counts them.
func crossed(a, b []int) ([]int, int) {
	numbers := map[[2]int]int{}
	pairs := make([]int, len(a))
	for row := range a {
		pair := [2]int{a[row], b[row]}
		if _, seen := numbers[pair]; !seen {
			numbers[pair] = len(numbers)
		}
		pairs[row] = numbers[pair]
	}
	return pairs, len(numbers)
}

func largest(numbers []int) int {
	most := 0
	for _, n := range numbers {
		most = max(most, n)
	}
	return most
}
