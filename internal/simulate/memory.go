package simulate

import (
	"math"
	"math/big"

	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/internal/sizing"
)

// memory is what one pod takes, in bytes, at the endpoints of a moment: the lesser
// of two lines over its connections. On the first every connection costs each; on
// the second, of the law of the push alone, no more messages wait.
type memory struct{ base, each, heldBase, heldEach float64 }

// linear is the field's law at a moment: one line.
func linear(base, each float64) memory { return memory{base, each, math.Inf(1), each} }

// memoryAt is the profile's memory model at that many endpoints: sizing.FieldLaw
// or sizing.PushLaw.
func memoryAt(m profile.MemoryModel, endpoints int64) memory {
	e := big.NewRat(endpoints, 1)
	if m.Kind != "push" {
		each := new(big.Rat).Mul(&m.BytesPerConnectionEndpoint.Rat, e)
		return linear(float(&m.Base.Rat), float(each.Add(each, &m.BytesPerConnection.Rat)))
	}
	law := sizing.PushLaw{
		Base: &m.Base.Rat, Heap: new(big.Rat), PerConnection: &m.BytesPerConnection.Rat, PerEndpoint: &m.BytesPerEndpoint.Rat,
		Growth: &m.HeapGrowth.Rat, Message: &m.MessageBytesPerEndpoint.Rat, Visible: &m.VisibleShare.Rat,
	}
	base := law.Peak(new(big.Rat), e)
	buffer := sizing.SendBuffer(law.MessageBytes(e))
	rest := new(big.Rat).Mul(law.Growth, law.PerConnection)
	all := linear(float(base), float(new(big.Rat).Add(rest, buffer)))
	if m.BytesPerWaitingMessage == nil {
		return all
	}
	waiting := new(big.Rat).Quo(law.MessageBytes(e), &m.BytesPerWaitingMessage.Rat)
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
