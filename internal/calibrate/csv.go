package calibrate

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meshgen/meshgen/internal/diag"
)

// The columns of a CSV file, in any order; besides them only labels that tell
// meshes apart (ClusterLabel). A row is a pod at a moment, an empty cell a value
// that is not known.
var (
	requiredColumns = []string{"time", "pod", "memory_bytes", "connections", "endpoints"}
	optionalColumns = []string{"cpu_seconds", "reconnects", "istio_version"}
)

// ReadCSV reads samples: time is RFC 3339 or Unix seconds, cpu_seconds and
// reconnects are counters. Findings say at which line and column the file, called
// name, is none.
func ReadCSV(name string, r io.Reader) (Input, diag.List) {
	t := &csvReader{name: name, reader: csv.NewReader(r), series: map[string]int{}}
	header, err := t.reader.Read()
	if err != nil {
		t.broken(err)
		return Input{}, t.found
	}
	if t.columns = t.judge(header); t.found.HasErrors() {
		return Input{}, t.found
	}
	for {
		row, err := t.reader.Read()
		if errors.Is(err, io.EOF) {
			return t.input(), t.found
		}
		if err != nil {
			t.broken(err)
			return Input{}, t.found
		}
		if t.add(row); t.found.HasErrors() {
			return Input{}, t.found
		}
	}
}

type csvReader struct {
	name    string
	reader  *csv.Reader
	columns []string
	series  map[string]int // the place in columnSeries, by column and labels
	all     []columnSeries
	found   diag.List
}

// columnSeries is a series, and the column that it is of.
type columnSeries struct {
	column string
	Series
}

// judge is the names of the columns, trimmed.
func (t *csvReader) judge(header []string) []string {
	var names []string
	for i, cell := range header {
		name := strings.TrimSpace(strings.TrimPrefix(cell, "\ufeff"))
		known := slices.Concat(requiredColumns, optionalColumns)
		if !slices.Contains(known, name) && !ClusterLabel(name) {
			hint := "columns are " + strings.Join(known, ", ") + ", and labels that tell meshes apart, such as cluster"
			if near, ok := diag.Nearest(name, known); ok {
				hint = "did you mean " + near + "?"
			}
			t.reject(i, fmt.Sprintf("column %q is not known", name), hint)
		}
		if slices.Contains(names, name) {
			t.reject(i, fmt.Sprintf("column %q stands twice", name), "keep one of the two")
		}
		names = append(names, name)
	}
	for _, name := range requiredColumns {
		if !slices.Contains(names, name) {
			t.reject(0, fmt.Sprintf("column %q is missing", name), "the first line names the columns: "+strings.Join(requiredColumns, ","))
		}
	}
	return names
}

func (t *csvReader) reject(field int, message, hint string) {
	line, column := t.reader.FieldPos(field)
	t.found = append(t.found, diag.Finding{
		Severity: diag.Error, ID: "calibrate/not-csv",
		Pos: diag.Pos{File: t.name, Line: line, Column: column}, Message: message, Hint: hint,
	})
}

func (t *csvReader) broken(err error) {
	f := diag.Finding{Severity: diag.Error, ID: "calibrate/not-csv", Pos: diag.Pos{File: t.name}, Message: err.Error()}
	parse := &csv.ParseError{}
	if errors.As(err, &parse) {
		f.Pos = diag.Pos{File: t.name, Line: parse.Line, Column: parse.Column}
		f.Message = parse.Err.Error()
	}
	if errors.Is(err, io.EOF) {
		f.Message = "the file is empty"
	}
	f.Hint = "the first line names the columns: " + strings.Join(requiredColumns, ",")
	t.found = append(t.found, f)
}

// add takes the cells of one row.
func (t *csvReader) add(row []string) {
	at, ofPod, ofMesh := 0.0, map[string]string{}, map[string]string{}
	for i, cell := range row {
		switch name := t.columns[i]; {
		case name == "time":
			var ok bool
			if at, ok = moment(cell); !ok {
				t.reject(i, fmt.Sprintf("%q is no time", cell), "write RFC 3339, such as 2026-11-30T12:00:00Z, or Unix seconds")
			}
		case name == "pod":
			ofPod[name] = cell
		case ClusterLabel(name):
			ofPod[name], ofMesh[name] = cell, cell
		}
	}
	for i, cell := range row {
		switch name := t.columns[i]; {
		case cell == "" || name == "time" || name == "pod" || ClusterLabel(name):
		case name == "istio_version":
			t.point(name, map[string]string{"pod": ofPod["pod"], "tag": cell}, Point{at, 1})
		case name == "endpoints":
			t.number(i, cell, ofMesh, at)
		default:
			t.number(i, cell, ofPod, at)
		}
	}
}

func (t *csvReader) number(column int, cell string, labels map[string]string, at float64) {
	value, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		t.reject(column, fmt.Sprintf("%q is not a number", cell), "leave a cell empty where a value is not known")
		return
	}
	t.point(t.columns[column], labels, Point{at, value})
}

func (t *csvReader) point(column string, labels map[string]string, p Point) {
	key := fmt.Sprint(column, labels) // maps print in the order of their keys
	i, seen := t.series[key]
	if !seen {
		i = len(t.all)
		t.series[key] = i
		t.all = append(t.all, columnSeries{column, Series{Labels: labels}})
	}
	t.all[i].Points = append(t.all[i].Points, p)
}

func (t *csvReader) input() Input {
	var in Input
	into := map[string]*[]Series{
		"memory_bytes": &in.Memory, "connections": &in.Connections, "endpoints": &in.Endpoints,
		"cpu_seconds": &in.CPU, "reconnects": &in.Reconnects, "istio_version": &in.Builds,
	}
	for _, s := range t.all {
		*into[s.column] = append(*into[s.column], s.Series)
	}
	return in
}

// moment reads RFC 3339 or Unix seconds.
func moment(text string) (float64, bool) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return float64(at.UnixMilli()) / 1000, true
	}
	at, err := strconv.ParseFloat(text, 64)
	return at, err == nil && at >= 0 && at < year10000
}
