package simulate

import (
	"math"
	"math/big"

	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/internal/sizing"
)

// memory is what one pod takes, in bytes, at the endpoints of a moment: the lesser
// of two lines over its connections. On the first every connection costs each; on
// the second, of the law of the push alone, no more messages wait.
type memory struct{ base, each, heldBase, heldEach float64 }

// linear is the field's law at a moment: one line.
func linear(base, each float64) memory { return memory{base, each, math.Inf(1), each} }

// memoryAt is the profile's memory model at that many endpoints.
func memoryAt(m profile.MemoryModel, endpoints int64) memory {
	e := big.NewRat(endpoints, 1)
	model := plan.Law(&m)
	base := model.Peak(new(big.Rat), e)
	law, push := model.(sizing.PushLaw)
	if !push {
		one := model.Peak(big.NewRat(1, 1), e)
		return linear(float(base), float(one.Sub(one, base)))
	}
	buffer := sizing.SendBuffer(law.MessageBytes(e))
	rest := new(big.Rat).Mul(law.Growth, law.PerConnection)
	all := linear(float(base), float(new(big.Rat).Add(rest, buffer)))
	if law.Waiting == nil {
		return all
	}
	waiting := new(big.Rat).Quo(law.MessageBytes(e), law.Waiting)
	return memory{all.base, all.each, float(base.Add(base, waiting.Mul(waiting, buffer))), float(rest)}
}

// of is what so many connections take.
func (m memory) of(connections int32) float64 {
	c := float64(connections)
	return min(m.base+float64(m.each*c), m.heldBase+float64(m.heldEach*c))
}

// most is the connections up to which a pod that is factor off the fit stays within
// so many bytes; -1 where it has none without connections.
func (m memory) most(bytes, factor float64) int64 {
	room := float64(bytes / factor)
	if room < m.base {
		return -1
	}
	return int64(max((room-m.base)/m.each, (room-m.heldBase)/m.heldEach))
}
