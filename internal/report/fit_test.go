package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/meshgen/meshgen/internal/calibrate"
	"github.com/meshgen/meshgen/internal/report"
)

func TestFit(t *testing.T) {
	straight := calibrate.Report{
		Estimates: []calibrate.Estimate{{Name: "base", Value: 240e6}, {Name: "bytesPerConnection"}, {Name: "bytesPerConnectionEndpoint", Value: 400}},
		Residual:  0.05,
		Plot:      []calibrate.Dot{{Connections: 50, Endpoints: 1700, Memory: 270e6}, {Connections: 250, Endpoints: 5400, Memory: 790e6}},
	}
	own := straight
	own.Estimates = []calibrate.Estimate{{Name: "base", Value: 240e6}, {Name: "bytesPerConnection", Value: 1e6}, {Name: "bytesPerConnectionEndpoint", Value: 400}}
	hollow := straight
	hollow.Plot = []calibrate.Dot{{Connections: math.NaN(), Memory: math.Inf(1)}}
	many := straight
	for range 20000 {
		many.Plot = append(many.Plot, calibrate.Dot{Connections: 100, Endpoints: 2000, Memory: 320e6})
	}
	cases := map[string]struct {
		report calibrate.Report
		says   string
		size   int
	}{
		"connections times endpoints":                        {straight, "connections × endpoints, millions", 10_000},
		"what a connection costs by itself is in endpoints":  {own, "connections × (endpoints + 2,500), millions", 10_000},
		"nothing but what is no number":                      {hollow, "millions", 10_000},
		"nothing at all":                                     {calibrate.Report{}, "millions", 10_000},
		"of many samples every so many, so that it is small": {many, "± 2 residuals", 250_000},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			svg, err := report.Fit(&c.report)
			if err != nil {
				t.Fatal(err)
			}
			again, _ := report.Fit(&c.report)
			if !bytes.Equal(svg, again) {
				t.Error("drawn twice, it differs")
			}
			if !strings.Contains(string(svg), c.says) || strings.Contains(string(svg), "NaN") || len(svg) > c.size {
				t.Errorf("%d bytes, or no %q:\n%.3000s", len(svg), c.says, svg)
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
