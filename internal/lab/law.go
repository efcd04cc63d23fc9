package lab

import (
	"math/big"

	"github.com/meshgen/meshgen/internal/sizing"
)

// What the law of docs/law.md takes in bytes: one endpoint in a message, a
// connection at rest, and a message for each that waits to be sent.
const (
	messageBytes  = 73
	perConnection = 30_000
	waiting       = 500
)

// law is the one of docs/law.md, where a proxy sees so many endpoints on average
// of all that there are. It is of heap alone.
func law(seen, all int64) sizing.PushLaw {
	return sizing.PushLaw{
		Base: new(big.Rat), Heap: big.NewRat(19_300_000, 1), PerConnection: big.NewRat(perConnection, 1), PerEndpoint: big.NewRat(810, 1),
		Growth: big.NewRat(3, 2), Message: big.NewRat(messageBytes, 1), Visible: big.NewRat(seen, all), Waiting: big.NewRat(waiting, 1),
	}
}

// reconnect is what the twelve runs of docs/law.md come to for a proxy that
// connects, in core·s: so much, and so much for each MB of configuration.
func reconnect(bytes float64) float64 { return 0.008 + 0.08*bytes/1e6 }
