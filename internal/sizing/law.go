package sizing

import "math/big"

// Memory is what one istiod pod takes at its dearest. It grows with connections
// and with endpoints.
type Memory interface {
	// Peak is in bytes.
	Peak(connections, endpoints *big.Rat) *big.Rat
	// NSafe is the connections that an amount of memory holds: the C with
	// Peak(C, endpoints) = room, negative where there is no room even for none.
	NSafe(room, endpoints *big.Rat) *big.Rat
}

// FieldLaw is the field's: Base + (PerConnection + PerConnectionEndpoint·E)·C, a
// line through busy hours. A connection must cost something.
type FieldLaw struct {
	Base, PerConnection, PerConnectionEndpoint *big.Rat // bytes
}

// Peak is Base + w·C, w = PerConnection + PerConnectionEndpoint·E.
func (l FieldLaw) Peak(connections, endpoints *big.Rat) *big.Rat {
	peak := new(big.Rat).Mul(l.perConnection(endpoints), connections)
	return peak.Add(peak, l.Base)
}

// NSafe is (room − Base) / w.
func (l FieldLaw) NSafe(room, endpoints *big.Rat) *big.Rat {
	left := new(big.Rat).Sub(room, l.Base)
	return left.Quo(left, l.perConnection(endpoints))
}

func (l FieldLaw) perConnection(endpoints *big.Rat) *big.Rat {
	w := new(big.Rat).Mul(l.PerConnectionEndpoint, endpoints)
	return w.Add(w, l.PerConnection)
}

// PushLaw is the memory of one istiod pod while every endpoint that a proxy sees
// changes, and each proxy is sent them in one message. Where its terms come
// from, and how near it comes to what was measured, stands in docs/law.md. No
// coefficient is negative.
type PushLaw struct {
	Base          *big.Rat // bytes that no collection moves: the process without proxies and endpoints
	Heap          *big.Rat // bytes of heap without proxies and endpoints, where Base does not have them
	PerConnection *big.Rat // bytes at rest; above 0
	PerEndpoint   *big.Rat // bytes at rest
	Growth        *big.Rat // heap when a collection ends over heap at rest: from 1 to 2 at Go's GOGC of 100

	Visible *big.Rat // the share of the endpoints that a proxy sees, above 0 and up to 1
	Message *big.Rat // bytes of one endpoint in a message
	Waiting *big.Rat // bytes of a message for each that waits to be sent; nil: one waits for every connection
}

// Rest is the heap at rest: Heap + PerConnection·C + PerEndpoint·E.
func (l PushLaw) Rest(connections, endpoints *big.Rat) *big.Rat {
	rest := new(big.Rat).Mul(l.PerConnection, connections)
	rest.Add(rest, new(big.Rat).Mul(l.PerEndpoint, endpoints))
	return rest.Add(rest, l.Heap)
}

// MessageBytes is the size of the message that tells a proxy of every endpoint
// that it sees: Message·Visible·E.
func (l PushLaw) MessageBytes(endpoints *big.Rat) *big.Rat {
	visible := new(big.Rat).Mul(l.Visible, endpoints)
	return visible.Mul(visible, l.Message)
}

// Peak is the memory at the push:
// Base + Growth·Rest(C, E) + min(C, M/Waiting)·SendBuffer(M), M = MessageBytes(E).
func (l PushLaw) Peak(connections, endpoints *big.Rat) *big.Rat {
	message := l.MessageBytes(endpoints)
	held := connections
	if most := l.held(message); most != nil && most.Cmp(held) < 0 {
		held = most
	}
	peak := new(big.Rat).Mul(held, SendBuffer(message))
	peak.Add(peak, new(big.Rat).Mul(l.Growth, l.Rest(connections, endpoints)))
	return peak.Add(peak, l.Base)
}

// NSafe is the larger of what two lines hold, for Peak is the lesser of them:
// one on which every connection holds a buffer, and a flatter one on which the
// most wait that may.
func (l PushLaw) NSafe(room, endpoints *big.Rat) *big.Rat {
	message := l.MessageBytes(endpoints)
	buffer := SendBuffer(message)
	flat := new(big.Rat).Mul(l.Growth, l.PerConnection)
	left := new(big.Rat).Sub(room, l.Peak(new(big.Rat), endpoints))
	safe := new(big.Rat).Quo(left, new(big.Rat).Add(flat, buffer))
	if most := l.held(message); most != nil {
		left.Sub(left, most.Mul(most, buffer))
		if other := left.Quo(left, flat); other.Cmp(safe) > 0 {
			return other
		}
	}
	return safe
}

// held is the most messages that wait to be sent; nil where all may.
func (l PushLaw) held(message *big.Rat) *big.Rat {
	if l.Waiting == nil {
		return nil
	}
	return new(big.Rat).Quo(message, l.Waiting)
}

// sendBuffers are the sizes, in bytes, of the buffers that gRPC for Go writes a
// message into: the next larger one (google.golang.org/grpc/mem, from 1.66).
var sendBuffers = []int64{4 << 10, 16 << 10, 32 << 10, 1 << 20}

// SendBuffer is the memory that gRPC takes for a message while it is sent. A
// message up to 1 KiB, or of more than 1 MiB, has a buffer of its own size.
func SendBuffer(message *big.Rat) *big.Rat {
	if message.Cmp(big.NewRat(1<<10, 1)) <= 0 {
		return message
	}
	for _, size := range sendBuffers {
		if buffer := big.NewRat(size, 1); message.Cmp(buffer) <= 0 {
			return buffer
		}
	}
	return message
}
