package schema

import (
	"bytes"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
)

// deletable are the lists of spec of which an item is deleted one day; nothing
// else of a profile is.
var deletable = []string{"events", "exceptions"}

// noteLastLines notes on which line each event and each exception ends that is an
// item of a block list. Where lines end in other ways than by \n and \r\n, nothing is noted.
func noteLastLines(root *node, data []byte) {
	begin := map[int][]*node{}
	for _, name := range deletable {
		for _, item := range root.get("spec").get(name).list() {
			begin[item.pos.Line] = append(begin[item.pos.Line], item)
		}
	}
	if len(begin) == 0 || bytes.ContainsAny(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), "\r\u0085\u2028\u2029") {
		return
	}
	var open []*node
	dash := 0 // where the item's dash stands
	for n := 1; len(data) > 0 && len(begin)+len(open) > 0; n++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		text := bytes.TrimLeft(line, " ")
		indent := len(line) - len(text)
		switch text = bytes.TrimSpace(text); {
		case len(text) == 0 || text[0] == '#':
			continue
		case indent <= dash && bytes.IndexByte([]byte("]}"), text[0]) >= 0:
			endAt(open, 0) // of a flow collection: the item is not whole lines
			open = nil
		case indent <= dash:
			open = nil
		}
		if items := begin[n]; items != nil && bytes.HasPrefix(text, []byte("- ")) {
			open, dash = items, indent
		}
		delete(begin, n)
		endAt(open, n)
	}
}

// noteLastLinesOfCUE does so for items that the package itself writes in a list.
// Nothing is noted of those that a comprehension makes or another package has: with
// the lines of one, others would go.
func noteLastLinesOfCUE(tree *node, root cue.Value, files []*ast.File) {
	lines := wholeLines(files)
	for _, name := range deletable {
		items, err := root.LookupPath(cue.MakePath(cue.Str("spec"), cue.Str(name))).List()
		for _, item := range tree.get("spec").get(name).list() {
			if err != nil || !items.Next() {
				break
			}
			item.last = lines[items.Value().Source()]
		}
	}
}

// wholeLines are the last lines of the items of lists that share no line with
// another item or a bracket.
func wholeLines(files []*ast.File) map[ast.Node]int {
	last := map[ast.Node]int{}
	for _, f := range files {
		ast.Walk(f, func(n ast.Node) bool {
			l, ok := n.(*ast.ListLit)
			if !ok {
				return true
			}
			before := l.Lbrack.Line()
			for i, item := range l.Elts {
				after := l.Rbrack.Line()
				if i+1 < len(l.Elts) {
					after = l.Elts[i+1].Pos().Line()
				}
				end := item.End().Line()
				if before < item.Pos().Line() && end < after {
					last[item] = end
				}
				before = end
			}
			return true
		}, nil)
	}
	return last
}

func endAt(items []*node, line int) {
	for _, item := range items {
		item.last = line
	}
}

// list is the items of a list; none of anything else, or of nothing.
func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	return n.items
}
