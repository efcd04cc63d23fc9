package schema

import "cuelang.org/go/cue"

// gap is what #Defaults has for one place: a scalar, or the gaps below it.
type gap struct {
	value    *node // of a scalar
	fields   []gapField
	item     *gap
	optional bool // only where the user wrote this field
}

type gapField struct {
	key string
	gap *gap
}

func gaps(v cue.Value) *gap {
	switch v.IncompleteKind() {
	case cue.StructKind:
		g := &gap{}
		fields, err := v.Fields(cue.Optional(true))
		for err == nil && fields.Next() {
			sub := gaps(fields.Value())
			sub.optional = fields.IsOptional()
			g.fields = append(g.fields, gapField{fields.Selector().Unquoted(), sub})
		}
		return g
	case cue.ListKind:
		return &gap{item: gaps(v.LookupPath(cue.MakePath(cue.AnyIndex)))}
	default:
		return &gap{value: scalarOf(v)}
	}
}

// fill adds to n what the user left out; what it adds has no position.
func fill(n *node, g *gap) {
	switch n.kind {
	case list:
		for _, item := range n.items {
			fill(item, g.item)
		}
	case mapping:
		for _, f := range g.fields {
			fillField(n, f)
		}
	}
}

func fillField(n *node, f gapField) {
	child := n.get(f.key)
	switch {
	case child == nil && f.gap.optional:
		return
	case child == nil && f.gap.value != nil:
		n.fields = append(n.fields, field{f.key, f.gap.value})
		return
	case child == nil:
		child = &node{kind: mapping}
		n.fields = append(n.fields, field{f.key, child})
	}
	fill(child, f.gap)
}
