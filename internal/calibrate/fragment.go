package calibrate

import (
	"fmt"
	"math"
	"strings"
)

// Fragment is the part of a profile that the model is, ready to be pasted.
func (m *Model) Fragment() string {
	var s strings.Builder
	s.WriteString("spec:\n  istiod:\n    memoryModel:\n")
	if m.Kind != "" {
		fmt.Fprintf(&s, "      kind: %s\n", m.Kind)
	}
	fmt.Fprintf(&s, "      base: %dM\n", m.Base/1_000_000)
	if m.BytesPerConnection > 0 {
		fmt.Fprintf(&s, "      bytesPerConnection: %d\n", m.BytesPerConnection)
	}
	if m.Kind == "push" {
		m.pushFragment(&s)
	} else {
		fmt.Fprintf(&s, "      bytesPerConnectionEndpoint: %v\n", m.BytesPerConnectionEndpoint)
	}
	fmt.Fprintf(&s, "      fittedEndpoints: {min: %d, max: %d}\n", m.FittedEndpoints.Min, m.FittedEndpoints.Max)
	if m.IstioVersion != "" {
		fmt.Fprintf(&s, "      istioVersion: %q\n", m.IstioVersion)
	}
	fmt.Fprintf(&s, "      residual: %v\n", m.Residual)
	if m.ReconnectCost > 0 {
		fmt.Fprintf(&s, "    reconnectCost: %v # the upper end of its interval\n", m.ReconnectCost)
	}
	return s.String()
}

// pushFragment is what kind push alone has. Of its defaults only the growth is
// written: it was given with what it multiplies.
func (m *Model) pushFragment(s *strings.Builder) {
	fmt.Fprintf(s, "      bytesPerEndpoint: %d\n      heapGrowth: %v\n      messageBytesPerEndpoint: %v\n", m.BytesPerEndpoint, m.HeapGrowth, m.MessageBytesPerEndpoint)
	if m.VisibleShare < 1 {
		fmt.Fprintf(s, "      visibleShare: %v\n      scoped: true\n", m.VisibleShare)
	}
	if m.BytesPerWaitingMessage > 0 {
		fmt.Fprintf(s, "      bytesPerWaitingMessage: %v\n", m.BytesPerWaitingMessage)
	}
}

// round leaves 5 significant digits: the last bits of a sum are not the same on
// every processor.
func (r *Report) round() {
	for _, x := range []*float64{&r.Correlation, &r.Residual, &r.ResidualP95} {
		*x = significant(*x)
	}
	for i := range r.Estimates {
		e := &r.Estimates[i]
		e.Value, e.Low, e.High = significant(e.Value), significant(e.Low), significant(e.High)
	}
}

func significant(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	unit := math.Pow(10, 4-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*unit) / unit
}

// Text is the estimate with its interval and its unit.
func (e Estimate) Text() string {
	of, per, _ := strings.Cut(e.Unit, "/")
	unit := " " + of
	amount := func(x float64) string { return fmt.Sprintf("%.4g", x) }
	if of == "bytes" {
		unit, amount = "", bytes
	}
	if per != "" {
		unit += " per " + strings.ReplaceAll(per, "/", " and ")
	}
	return fmt.Sprintf("%s%s (%s to %s)", amount(e.Value), unit, amount(e.Low), amount(e.High))
}

// bytes has four significant digits.
func bytes(x float64) string {
	switch size := math.Abs(x); {
	case size >= 1e6:
		return fmt.Sprintf("%.4g MB", x/1e6)
	case size >= 1e4:
		return fmt.Sprintf("%.4g kB", x/1e3)
	}
	return fmt.Sprintf("%.4g bytes", x)
}
