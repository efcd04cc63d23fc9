package simulate

// queue is a heap with four children a node, of moments with what they are for:
// the first is the earliest, of equals the one with the least id.
type queue []uint64

// idBits leave 24 bits of agents, or of timers, below the milliseconds.
const (
	idBits = 24
	idMask = 1<<idBits - 1
)

// never is a moment after every other.
const never = 1<<31 - 1

func moment(at int64, id uint32) uint64 { return uint64(at)<<idBits | uint64(id) }

// first is the earliest moment in milliseconds, never for an empty queue.
func (q queue) first() int64 {
	if len(q) == 0 {
		return never
	}
	return int64(q[0] >> idBits)
}

func (q *queue) push(key uint64) {
	h := append(*q, key)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if h[parent] <= key {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = key
	*q = h
}

// pop takes the first out and returns its id.
func (q *queue) pop() uint32 {
	h := *q
	id := uint32(h[0] & idMask)
	last := len(h) - 1
	key := h[last]
	*q = h[:last]
	if last > 0 {
		h[:last].sink(key)
	}
	return id
}

// sink puts a key in the place of the first.
func (q queue) sink(key uint64) {
	i := 0
	for {
		child := 4*i + 1
		if child >= len(q) {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, len(q)); c++ {
			if q[c] < q[least] {
				least = c
			}
		}
		if q[least] >= key {
			break
		}
		q[i] = q[least]
		i = least
	}
	q[i] = key
}
