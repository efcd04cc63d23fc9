package schema

import "bytes"

// noteLastLines notes on which line each event and each exception ends that is an
// item of a block list: they are deleted one day, and nothing else of a profile
// is. Where lines end in other ways than by \n and \r\n, nothing is noted.
func noteLastLines(root *node, data []byte) {
	begin := map[int][]*node{}
	for _, name := range []string{"events", "exceptions"} {
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
