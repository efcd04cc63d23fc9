package simulate

import (
	"math"
	"math/big"
	"testing"

	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/internal/sizing"
)

func decimal(text string) profile.Decimal {
	var d profile.Decimal
	if _, ok := d.SetString(text); !ok {
		panic(text)
	}
	return d
}

// What a pod takes, and what it holds, is what the law says of which the plan is
// made, whatever the endpoints: below the step of a send buffer, above it, and
// where no more messages wait.
func TestMemoryIsTheLawsOfThePlan(t *testing.T) {
	waiting := decimal("500")
	push := profile.MemoryModel{
		Kind: "push", BytesPerConnection: decimal("30000"), BytesPerEndpoint: decimal("810"), HeapGrowth: decimal("1.5"),
		MessageBytesPerEndpoint: decimal("73"), VisibleShare: decimal("0.5"), BytesPerWaitingMessage: &waiting,
	}
	push.Base.SetInt64(131e6)
	unbounded := push
	unbounded.BytesPerWaitingMessage = nil
	field := profile.MemoryModel{Kind: "linear", BytesPerConnection: decimal("10.5"), BytesPerConnectionEndpoint: decimal("400")}
	field.Base.SetInt64(240e6)
	for name, c := range map[string]struct {
		model profile.MemoryModel
		law   sizing.Memory
	}{
		"of kind push": {push, pushLaw(push)},
		"of kind push, a buffer for every connection": {unbounded, pushLaw(unbounded)},
		"of kind linear": {field, sizing.FieldLaw{
			Base: &field.Base.Rat, PerConnection: &field.BytesPerConnection.Rat, PerConnectionEndpoint: &field.BytesPerConnectionEndpoint.Rat,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, endpoints := range []int64{1, 800, 1000, 5400, 40000} {
				m, e := memoryAt(c.model, endpoints), big.NewRat(endpoints, 1)
				for _, connections := range []int32{0, 1, 50, 100, 600, 4000} {
					want := float(c.law.Peak(big.NewRat(int64(connections), 1), e))
					if got := m.of(connections); math.Abs(got-want) > 1 {
						t.Errorf("%d connections, %d endpoints: %g bytes, the law says %g", connections, endpoints, got, want)
					}
				}
				safe := float(c.law.NSafe(big.NewRat(800<<20, 1), e))
				if got := m.most(800<<20, 1); got != int64(safe) {
					t.Errorf("%d endpoints: %d connections, the law says %g", endpoints, got, safe)
				}
			}
		})
	}
}

func pushLaw(m profile.MemoryModel) sizing.PushLaw {
	law := sizing.PushLaw{
		Base: &m.Base.Rat, Heap: new(big.Rat), PerConnection: &m.BytesPerConnection.Rat, PerEndpoint: &m.BytesPerEndpoint.Rat,
		Growth: &m.HeapGrowth.Rat, Message: &m.MessageBytesPerEndpoint.Rat, Visible: &m.VisibleShare.Rat,
	}
	if m.BytesPerWaitingMessage != nil {
		law.Waiting = &m.BytesPerWaitingMessage.Rat
	}
	return law
}
