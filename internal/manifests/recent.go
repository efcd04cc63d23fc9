package manifests

import "sync"

// recent remembers what was made of the last inputs, for the clusters of a fleet
// have most of theirs in common. What is made depends on nothing but the key and
// is read-only. It holds at most twice its size, however many clusters there are,
// and may be used from several goroutines.
type recent[V any] struct {
	size       int
	mutex      sync.Mutex
	young, old map[string]func() (V, error)
}

func newRecent[V any](size int) *recent[V] {
	return &recent[V]{size: size, young: map[string]func() (V, error){}}
}

// of is what make returns for the key, made once: who asks meanwhile waits.
func (r *recent[V]) of(key string, make func() (V, error)) (V, error) {
	return r.entry(key, make)()
}

// entry finds the key, or takes it in. When the young are as many as may be,
// they become the old, and the old that nobody asked for since are forgotten.
func (r *recent[V]) entry(key string, make func() (V, error)) func() (V, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if known, ok := r.young[key]; ok {
		return known
	}
	known, ok := r.old[key]
	if !ok {
		known = sync.OnceValues(make)
	}
	if len(r.young) >= r.size {
		r.young, r.old = map[string]func() (V, error){}, r.young
	}
	r.young[key] = known
	return known
}
