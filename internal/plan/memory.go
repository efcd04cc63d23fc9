package plan

import (
	"fmt"
	"math/big"

	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/internal/sizing"
)

// memoryModel is one pod's memory as the profile fits it: the law that numbers
// come from, and the same as formulas for what is explained.
type memoryModel struct {
	law    sizing.Memory
	inputs []string // the terms that it takes from the profile
	worst  []Term   // without values: from the inputs to NSafe at Ep
	nSafe  string   // the formula of NSafe, %[1]s being the endpoints
	used   string   // the formula of the memory that hot connections take
	source string
}

// Law is the memory of one pod by the profile's model.
func Law(m *profile.MemoryModel) sizing.Memory {
	if m.Kind != "push" {
		return sizing.FieldLaw{Base: &m.Base.Rat, PerConnection: &m.BytesPerConnection.Rat, PerConnectionEndpoint: &m.BytesPerConnectionEndpoint.Rat}
	}
	law := sizing.PushLaw{
		Base: &m.Base.Rat, Heap: new(big.Rat), PerConnection: &m.BytesPerConnection.Rat, PerEndpoint: &m.BytesPerEndpoint.Rat,
		Growth: &m.HeapGrowth.Rat, Message: &m.MessageBytesPerEndpoint.Rat, Visible: &m.VisibleShare.Rat,
	}
	if m.BytesPerWaitingMessage != nil {
		law.Waiting = &m.BytesPerWaitingMessage.Rat
	}
	return law
}

// readMemory reads the memory model and adds its terms to the inputs.
func (b *builder) readMemory() {
	m := b.spec().Istiod.MemoryModel
	const path = "spec.istiod.memoryModel."
	b.field("B", &m.Base.Rat, "bytes", path+"base")
	b.field("p", &m.BytesPerConnection.Rat, "bytes/connection", path+"bytesPerConnection")
	b.field("rho", &m.Residual.Rat, "", path+"residual")
	if m.Kind == "push" {
		b.pushModel()
		return
	}
	b.field("k", &m.BytesPerConnectionEndpoint.Rat, "bytes/connection/endpoint", path+"bytesPerConnectionEndpoint")
	b.memory = memoryModel{
		law:    Law(&m),
		inputs: []string{"B", "p", "k"},
		worst: []Term{
			{Name: "w", Formula: "p + k*Ep", Unit: "bytes/connection"},
			{Name: "NSafe", Formula: "(h*L - B) / w", Unit: "connections"},
		},
		nSafe:  "(h*L - B) / (p + k*%[1]s)",
		used:   "B + w*hot",
		source: "field fit of istiod memory (base + k·connections·endpoints)",
	}
}

// pushModel is the law of the push. Where the messages that wait are bounded,
// memory is the lesser of two lines, and what it holds the larger.
func (b *builder) pushModel() {
	m := b.spec().Istiod.MemoryModel
	const path = "spec.istiod.memoryModel."
	b.field("b", &m.BytesPerEndpoint.Rat, "bytes/endpoint", path+"bytesPerEndpoint")
	b.field("g", &m.HeapGrowth.Rat, "", path+"heapGrowth")
	b.field("s", &m.MessageBytesPerEndpoint.Rat, "bytes/endpoint", path+"messageBytesPerEndpoint")
	b.field("v", &m.VisibleShare.Rat, "", path+"visibleShare")
	model := memoryModel{
		law:    Law(&m),
		inputs: []string{"B", "p", "b", "g", "s", "v"},
		worst: []Term{
			{Name: "M", Formula: "v*s*Ep", Unit: "bytes/message"},
			{Name: "S", Formula: "sendBuffer(M)", Unit: "bytes/message"},
			{Name: "B0", Formula: "B + g*b*Ep", Unit: "bytes"},
			{Name: "w", Formula: "g*p + S", Unit: "bytes/connection"},
		},
		nSafe:  "(h*L - B - g*b*%[1]s) / (g*p + sendBuffer(v*s*%[1]s))",
		used:   "B0 + w*hot",
		source: "istiod's memory at a push of every endpoint (docs/law.md)",
	}
	safe := "(h*L - B0) / w"
	if waiting := m.BytesPerWaitingMessage; waiting != nil {
		b.field("q", &waiting.Rat, "bytes/message", path+"bytesPerWaitingMessage")
		model.inputs = append(model.inputs, "q")
		model.worst = append(model.worst, Term{Name: "Q", Formula: "M / q", Unit: "messages"})
		model.nSafe = "max(" + model.nSafe + ", (h*L - B - g*b*%[1]s - v*s*%[1]s/q*sendBuffer(v*s*%[1]s)) / (g*p))"
		model.used = "B0 + g*p*hot + min(hot, Q)*S"
		safe = "max(" + safe + ", (h*L - B0 - Q*S) / (g*p))"
	}
	model.worst = append(model.worst, Term{Name: "NSafe", Formula: safe, Unit: "connections"})
	b.memory = model
}

// set adds the model's terms at the worst moment to a derivation.
func (m memoryModel) set(d *derivation) {
	for _, t := range m.worst {
		d.set(t.Name, t.Formula, t.Unit)
	}
}

// at is the formula of NSafe with that name for the endpoints.
func (m memoryModel) at(endpoints string) string { return fmt.Sprintf(m.nSafe, endpoints) }
