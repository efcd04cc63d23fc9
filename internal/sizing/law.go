package sizing

import "math/big"

// PushLaw is the memory of one istiod pod at its dearest: while every endpoint
// that a proxy sees changes, and each proxy is sent them in one message. Where
// its terms come from, and how near it comes to what was measured, stands in
// docs/law.md. No coefficient is negative.
type PushLaw struct {
	Base          *big.Rat // bytes that no collection moves: the process without proxies and endpoints
	Heap          *big.Rat // bytes of heap without proxies and endpoints, where Base does not have them
	PerConnection *big.Rat // bytes at rest; above 0
	PerEndpoint   *big.Rat // bytes at rest
	Collector     *big.Rat // heap when a collection ends over heap at rest: from 1 to 2 at Go's GOGC of 100

	Visible *big.Rat // the share of the endpoints that a proxy sees, above 0 and up to 1
	Message *big.Rat // bytes of one endpoint in a message
	Held    *big.Rat // messages that are held at once for each byte of one; nil: one for every connection
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

// Peak is the memory at the push, in bytes:
// Base + Collector·Rest(C, E) + min(C, Held·M)·SendBuffer(M), M = MessageBytes(E).
func (l PushLaw) Peak(connections, endpoints *big.Rat) *big.Rat {
	message := l.MessageBytes(endpoints)
	held := connections
	if l.Held != nil {
		held = lesser(held, new(big.Rat).Mul(l.Held, message))
	}
	peak := new(big.Rat).Mul(held, SendBuffer(message))
	peak.Add(peak, new(big.Rat).Mul(l.Collector, l.Rest(connections, endpoints)))
	return peak.Add(peak, l.Base)
}

// NSafe is the connections that one pod may hold in an amount of memory: the C
// with Peak(C, E) = room. It is negative where there is no room even for none.
// Peak grows with C in two straight lines, the second, where no more messages
// are held, the flatter.
func (l PushLaw) NSafe(room, endpoints *big.Rat) *big.Rat {
	message := l.MessageBytes(endpoints)
	buffer := SendBuffer(message)
	flat := new(big.Rat).Mul(l.Collector, l.PerConnection)
	steep := new(big.Rat).Add(flat, buffer)
	left := new(big.Rat).Sub(room, l.Peak(new(big.Rat), endpoints))
	safe := new(big.Rat).Quo(left, steep)
	if l.Held == nil {
		return safe
	}
	held := new(big.Rat).Mul(l.Held, message)
	if safe.Cmp(held) <= 0 {
		return safe
	}
	left.Sub(left, held.Mul(held, buffer))
	return left.Quo(left, flat)
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

func lesser(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}
