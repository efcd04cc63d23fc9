package sizing

import "math/big"

// MaxThreshold ends every search for a threshold. The age bound alone keeps
// thresholds below 16,400: reconnect waves of 5.5·θ must pass half of istiod's
// admission limit, at most 100 a second, within 30 minutes.
const MaxThreshold = 20000

// Threshold is what bounds the connection threshold θ: how many connections a
// pod may be asked to carry, so that after the loss, at the worst moment, the
// fullest pod still fits into its memory and the lost connections come back in
// time.
type Threshold struct {
	Loss        Loss
	Connections int64 // of the mesh, at the worst moment

	// memory: B + w·connections on one pod, w bytes a connection at the worst moment's endpoints
	Limit, Headroom, Base, PerConnection, Residual *big.Rat

	// reconnects
	Cores     *big.Rat // whole cores of one pod
	Cost      *big.Rat // core·s a reconnect
	Admission *big.Rat // new streams that one istiod admits a second, R
	Age       *big.Rat // connection age T, seconds
}

// NSafe is the connections that one pod may hold: (h·L − B) / w.
func (t Threshold) NSafe() *big.Rat {
	room := new(big.Rat).Mul(t.Headroom, t.Limit)
	return room.Sub(room, t.Base).Quo(room, t.PerConnection)
}

// Pods is max(2, ⌈connections/θ⌉): the pods that θ asks for.
func (t Threshold) Pods(theta int64) int64 { return max(2, CeilDiv(t.Connections, theta)) }

// Left is the survivors of the loss, at least 2: max(2, ⌈(1 − f)·⌈connections/θ⌉⌉).
func (t Threshold) Left(theta int64) int64 {
	stay := new(big.Rat).Sub(big.NewRat(1, 1), t.Loss.Fraction(t.Pods(theta)))
	return max(2, CeilMul(CeilDiv(t.Connections, theta), stay))
}

// Mean is the connections on each survivor on average: 1.10·θ/(1 − f).
func (t Threshold) Mean(theta int64) *big.Rat {
	stay := new(big.Rat).Sub(big.NewRat(1, 1), t.Loss.Fraction(t.Pods(theta)))
	mean := new(big.Rat).Mul(Tolerance, big.NewRat(theta, 1))
	return mean.Quo(mean, stay)
}

// MemoryHolds says that the fullest survivor stays within NSafe, and that its
// 99th percentile under twice the model's residual stays within the limit.
func (t Threshold) MemoryHolds(theta int64) bool {
	mean, _ := t.Mean(theta).Float64()
	left := t.Left(theta)
	nSafe, _ := t.NSafe().Float64()
	return Hot(mean, left) <= nSafe && t.worstFits(Hot99(mean, left))
}

func (t Threshold) worstFits(connections float64) bool {
	used := new(big.Rat).SetFloat64(connections)
	used.Mul(used, t.PerConnection).Add(used, t.Base)
	spread := new(big.Rat).Mul(big.NewRat(2, 1), t.Residual)
	return used.Mul(used, spread.Add(spread, big.NewRat(1, 1))).Cmp(t.Limit) <= 0
}

// Rate is the reconnects that one pod serves a second: its admission limit or
// its cores, whichever is less.
func (t Threshold) Rate() *big.Rat {
	byCPU := new(big.Rat).Quo(t.Cores, t.Cost)
	if byCPU.Cmp(t.Admission) < 0 {
		return byCPU
	}
	return t.Admission
}

// ReconnectHolds says that 30 s after the lost pods' endpoints are gone every
// proxy is back: θ·f/(1 − f) ≤ 30·A/1.10.
func (t Threshold) ReconnectHolds(theta int64) bool {
	f := t.Loss.Fraction(t.Pods(theta))
	gain := new(big.Rat).Quo(f, new(big.Rat).Sub(big.NewRat(1, 1), f))
	come := gain.Mul(gain, big.NewRat(theta, 1))
	allowed := new(big.Rat).Mul(big.NewRat(30, 1), t.Rate())
	return come.Cmp(allowed.Quo(allowed, Tolerance)) <= 0
}

// AgeHolds says that the spread is restored within the connection age without
// spending more than a tenth of the CPU on it, and without more than half of
// the admission limit: reconnects come in waves of 5.5 times the mean.
func (t Threshold) AgeHolds(theta int64) bool {
	n := big.NewRat(theta, 1)
	byCPU := new(big.Rat).Mul(big.NewRat(11, 1), n)
	byCPU.Mul(byCPU, t.Cost).Quo(byCPU, t.Cores)
	waves := new(big.Rat).Mul(big.NewRat(11, 1), n) // 5.5/0.5
	waves.Quo(waves, t.Admission)
	return byCPU.Cmp(t.Age) <= 0 && waves.Cmp(t.Age) <= 0
}

// Largest is the largest θ such that the condition holds for every θ' up to it,
// at most MaxThreshold; 0 when it fails at 1.
func Largest(holds func(theta int64) bool) int64 {
	for theta := int64(1); theta <= MaxThreshold; theta++ {
		if !holds(theta) {
			return theta - 1
		}
	}
	return MaxThreshold
}
