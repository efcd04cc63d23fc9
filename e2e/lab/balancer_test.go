package lab_test

import (
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
)

// balancer is a Service before istiods: each connection goes to one of those that
// are ready, at random, as kube-proxy has it, and stays there.
type balancer struct {
	net.Listener
	lock  sync.Mutex
	ready []string // addresses
}

func newBalancer(t *testing.T) *balancer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{Listener: l}
	t.Cleanup(func() { l.Close() })
	go b.serve()
	return b
}

func (b *balancer) add(address string) {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.ready = append(b.ready, address)
}

func (b *balancer) remove(address string) {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.ready = slices.DeleteFunc(b.ready, func(a string) bool { return a == address })
}

// choose is one that is ready, or none.
func (b *balancer) choose() string {
	b.lock.Lock()
	defer b.lock.Unlock()
	if len(b.ready) == 0 {
		return ""
	}
	return b.ready[rand.IntN(len(b.ready))]
}

func (b *balancer) serve() {
	for {
		client, err := b.Accept()
		if err != nil {
			return
		}
		go forward(client, b.choose())
	}
}

// forward copies both ways until either side ends.
func forward(client net.Conn, address string) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	ended := make(chan error, 2)
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		go func() {
			_, err := io.Copy(way[0], way[1])
			ended <- err
		}()
	}
	<-ended
}
