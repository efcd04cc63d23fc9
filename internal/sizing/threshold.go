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
	Endpoints   int64 // likewise

	// memory
	Memory                    Memory
	Limit, Headroom, Residual *big.Rat

	// reconnects
	Cores     *big.Rat // whole cores of one pod
	Cost      *big.Rat // core·s a reconnect
	Admission *big.Rat // new streams that one istiod admits a second, R
	Age       *big.Rat // connection age T, seconds
}

// NSafe is the connections that one pod may hold: those that fill h·L.
func (t Threshold) NSafe() *big.Rat {
	return t.Memory.NSafe(new(big.Rat).Mul(t.Headroom, t.Limit), big.NewRat(t.Endpoints, 1))
}

// Pods is max(2, ⌈connections/θ⌉): the pods that θ asks for.
func (t Threshold) Pods(theta int64) int64 { return max(2, CeilDiv(t.Connections, theta)) }

// Left is the survivors of the loss, at least 2: max(2, ⌈(1 − f)·⌈connections/θ⌉⌉).
func (t Threshold) Left(theta int64) int64 {
	stay, of := t.Loss.Stay(t.Pods(theta))
	return max(2, CeilDiv(CeilDiv(t.Connections, theta)*stay, of))
}

// Mean is the connections on each survivor on average: 1.10·θ/(1 − f).
func (t Threshold) Mean(theta int64) float64 {
	stay, of := t.Loss.Stay(t.Pods(theta))
	return float64(11*theta*of) / float64(10*stay)
}

// MemoryHolds is the condition that the fullest survivor stays within NSafe, and
// that its 99th percentile under twice the model's residual stays within the
// limit: Peak(hot99)·(1 + 2ρ) ≤ L.
func (t Threshold) MemoryHolds() func(theta int64) bool {
	nSafe, _ := t.NSafe().Float64()
	spread := new(big.Rat).Mul(big.NewRat(2, 1), t.Residual)
	most := new(big.Rat).Quo(t.Limit, spread.Add(spread, big.NewRat(1, 1)))
	nMost, _ := t.Memory.NSafe(most, big.NewRat(t.Endpoints, 1)).Float64()
	return func(theta int64) bool {
		mean, left := t.Mean(theta), t.Left(theta)
		return Hot(mean, left) <= nSafe && Hot99(mean, left) <= nMost
	}
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

// ReconnectHolds is the condition that 30 s after the lost pods' endpoints are
// gone every proxy is back: θ·f/(1 − f) ≤ 30·A/1.10.
func (t Threshold) ReconnectHolds() func(theta int64) bool {
	allowed := new(big.Rat).Mul(big.NewRat(30, 1), t.Rate())
	allowed.Quo(allowed, Tolerance)
	return func(theta int64) bool {
		stay, of := t.Loss.Stay(t.Pods(theta))
		return big.NewRat(theta*(of-stay), stay).Cmp(allowed) <= 0
	}
}

// AgeHolds is the condition that the spread is restored within the connection
// age without spending more than a tenth of the CPU on it, nor more than half of
// the admission limit: max(11·θ·c/cpu, 5.5·θ/(0.5·R)) ≤ T. Reconnects come in
// waves of 5.5 times the mean.
func (t Threshold) AgeHolds() func(theta int64) bool {
	byCPU := new(big.Rat).Quo(new(big.Rat).Mul(t.Age, t.Cores), t.Cost)
	waves := new(big.Rat).Mul(t.Age, t.Admission)
	if waves.Cmp(byCPU) < 0 {
		byCPU = waves
	}
	most := Floor(byCPU.Quo(byCPU, big.NewRat(11, 1))).Int64()
	return func(theta int64) bool { return theta <= most }
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
