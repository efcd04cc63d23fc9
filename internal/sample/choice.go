package sample

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// choice makes choices: from bytes while there are any, and then at random, the
// same ones for the same seed.
type choice struct {
	data   []byte
	random *rand.Rand
}

func newChoice(seed uint64, data []byte) *choice {
	return &choice{data, rand.New(rand.NewPCG(seed, 2027))}
}

// below is a number from 0 up to, and without, n.
func (c *choice) below(n int) int {
	switch {
	case len(c.data) == 0:
		return c.random.IntN(n)
	case n > 256 && len(c.data) > 1:
		x := int(c.data[0])<<8 | int(c.data[1])
		c.data = c.data[2:]
		return x * n >> 16
	}
	x := int(c.data[0])
	c.data = c.data[1:]
	return x * n >> 8
}

// between is a number from least to most.
func (c *choice) between(least, most int) int { return least + c.below(most-least+1) }

// of is true in percent of the cases.
func (c *choice) of(percent int) bool { return c.below(100) < percent }

// rarely is for what is valid and hardly anybody writes.
func (c *choice) rarely() bool { return c.below(256) < 3 }

func pick[T any](c *choice, from ...T) T { return from[c.below(len(from))] }

// hundredths is a number of that many hundredths as a decimal.
func hundredths(n int) string { return fmt.Sprintf("%d.%02d", n/100, n%100) }

// flow is a mapping or a list on one line of YAML.
type flow []string

func (f *flow) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

func (f *flow) mapping() string { return "{" + strings.Join(*f, ", ") + "}" }

func (f *flow) list() string { return "[" + strings.Join(*f, ", ") + "]" }
