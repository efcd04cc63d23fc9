package profile

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Decimal is an exact decimal number.
type Decimal struct{ big.Rat }

// UnmarshalJSON reads a JSON number without rounding it.
func (d *Decimal) UnmarshalJSON(b []byte) error {
	if _, ok := d.SetString(string(b)); !ok {
		return fmt.Errorf("%s is not a decimal number", b)
	}
	return nil
}

// MarshalJSON prints the shortest exact decimal.
func (d Decimal) MarshalJSON() ([]byte, error) { return []byte(Exact(&d.Rat)), nil }

// Quantity is a Kubernetes quantity in its base unit: bytes, or cores.
type Quantity struct {
	big.Rat
	Text string // as the user wrote it
}

// UnmarshalJSON reads a quantity written as a string or as a number.
func (q *Quantity) UnmarshalJSON(b []byte) error {
	q.Text = strings.Trim(string(b), `"`)
	parsed, err := resource.ParseQuantity(q.Text)
	if err != nil {
		return fmt.Errorf("quantity %q: %w", q.Text, err)
	}
	if _, ok := q.SetString(parsed.AsDec().String()); !ok {
		return fmt.Errorf("quantity %q: not a number", q.Text)
	}
	return nil
}

// MarshalJSON prints what the user wrote, as a string.
func (q Quantity) MarshalJSON() ([]byte, error) { return json.Marshal(q.Text) }

// Duration is a Go duration ("20m").
type Duration struct{ time.Duration }

// UnmarshalJSON reads a Go duration.
func (d *Duration) UnmarshalJSON(b []byte) (err error) {
	d.Duration, err = time.ParseDuration(strings.Trim(string(b), `"`))
	return err
}

// MarshalJSON prints a Go duration.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// Instant is a moment, written in RFC 3339 with an offset.
type Instant struct{ time.Time }

// UnmarshalJSON reads an RFC 3339 instant.
func (i *Instant) UnmarshalJSON(b []byte) (err error) {
	i.Time, err = time.Parse(time.RFC3339, strings.Trim(string(b), `"`))
	return err
}

// MarshalJSON prints the instant in UTC.
func (i Instant) MarshalJSON() ([]byte, error) {
	return json.Marshal(i.UTC().Format(time.RFC3339))
}

// Survive is the loss that istiod must survive: a zone, a pod, or a share of
// its pods.
type Survive struct {
	Mode  string   // zone, pod or share
	Share *big.Rat // only with Mode share, 0 < Share ≤ 0.9
}

// UnmarshalJSON reads "zone", "pod" or a number.
func (s *Survive) UnmarshalJSON(b []byte) error {
	text := string(b)
	if strings.HasPrefix(text, `"`) {
		s.Mode = strings.Trim(text, `"`)
		return nil
	}
	share, ok := new(big.Rat).SetString(text)
	if !ok {
		return fmt.Errorf("survive %s: not a number", text)
	}
	s.Mode, s.Share = "share", share
	return nil
}

// MarshalJSON prints the word or the number.
func (s Survive) MarshalJSON() ([]byte, error) {
	if s.Mode == "share" {
		return []byte(Exact(s.Share)), nil
	}
	return json.Marshal(s.Mode)
}

// Nodes is how many nodes a pool has: fixed (n), or autoscaled.
type Nodes struct{ Min, Now, Max int64 }

// UnmarshalJSON reads n or {min, now, max}.
func (n *Nodes) UnmarshalJSON(b []byte) error {
	if !strings.HasPrefix(string(b), "{") {
		if err := json.Unmarshal(b, &n.Now); err != nil {
			return err
		}
		n.Min, n.Max = n.Now, n.Now
		return nil
	}
	type plain Nodes
	return json.Unmarshal(b, (*plain)(n))
}

// MarshalJSON prints the three counts.
func (n Nodes) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]int64{"min": n.Min, "now": n.Now, "max": n.Max})
}

// Exact prints a rational as a decimal without rounding where it has a finite
// one of at most 20 places, and as a fraction otherwise.
func Exact(r *big.Rat) string {
	if n, exact := r.FloatPrec(); exact && n <= 20 {
		return r.FloatString(n)
	}
	return r.RatString()
}
