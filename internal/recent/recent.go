// Package recent remembers what was made of the last inputs.
package recent

import "sync"

// Memory is of what was made of the last inputs, for the clusters of a fleet
// have most of theirs in common. What is made depends on nothing but the key and
// is read-only. It holds at most twice its size, however many clusters there are,
// and may be used from several goroutines.
type Memory[V any] struct {
	size       int
	mutex      sync.Mutex
	young, old map[string]func() (V, error)
}

// New is a memory of at least the last size things.
func New[V any](size int) *Memory[V] {
	return &Memory[V]{size: size, young: map[string]func() (V, error){}}
}

// Of is what make returns for the key, made once: who asks meanwhile waits.
func (m *Memory[V]) Of(key string, make func() (V, error)) (V, error) {
	return m.entry(key, make)()
}

// Len is how many things are remembered.
func (m *Memory[V]) Len() int {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return len(m.young) + len(m.old)
}

// entry finds the key, or takes it in. When the young are as many as may be,
// they become the old, and the old that nobody asked for since are forgotten.
func (m *Memory[V]) entry(key string, make func() (V, error)) func() (V, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if known, ok := m.young[key]; ok {
		return known
	}
	known, ok := m.old[key]
	if !ok {
		known = sync.OnceValues(make)
	}
	if len(m.young) >= m.size {
		m.young, m.old = map[string]func() (V, error){}, m.young
	}
	m.young[key] = known
	return known
}
