package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/meshgen/meshgen/internal/report"
	"github.com/meshgen/meshgen/internal/simulate"
)

func TestRedistribution(t *testing.T) {
	course := func(name string, measured ...float64) report.Course {
		return report.Course{Name: name, Measured: measured, Low: make([]float64, len(measured)), High: measured}
	}
	long := make([]float64, 151)
	for i := range long {
		long[i] = float64(i % 90)
	}
	for name, c := range map[string]struct {
		courses []report.Course
		marks   []simulate.Mark
		says    []string
	}{
		"istiods below each other, in seconds": {
			[]report.Course{course("one that stays", long...), course("one that comes", long...)},
			[]simulate.Mark{{Minute: 15, Name: "one comes"}},
			[]string{"one that stays", "one that comes", "measured", "99 of 100 runs", ">150 s<", ">one comes<", ">80<"},
		},
		"a second that was not measured is a gap": {[]report.Course{course("one", 10, math.NaN(), 20)}, nil, []string{"measured"}},
		"nothing": {nil, nil, []string{"how they spread"}},
	} {
		t.Run(name, func(t *testing.T) {
			svg, err := report.Redistribution("how they spread", "99 of 100 runs", c.courses, c.marks)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range c.says {
				if !strings.Contains(string(svg), text) {
					t.Errorf("no %q:\n%.3000s", text, svg)
				}
			}
			if strings.Contains(string(svg), "NaN") {
				t.Error("it says NaN")
			}
			d := xml.NewDecoder(bytes.NewReader(svg))
			for err == nil {
				_, err = d.Token()
			}
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
		})
	}
}
