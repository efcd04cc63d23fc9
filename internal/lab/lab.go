// Package lab makes a page of what a real istiod was measured to take (make lab):
// each figure beside what the law of the push predicts, and connections that
// spread anew beside the simulation's. It measures nothing.
package lab

import (
	"encoding/json"
	"fmt"
	"io"
)

// Results are what was measured, docs/lab.json.
type Results struct {
	Versions       map[string]string `json:"versions"`
	Cores          int               `json:"cores"`
	Services       int               `json:"services"`
	Runs           []Run             `json:"runs"`
	Redistribution [][]int32         `json:"redistribution"` // connections by istiod and second
}

// Run is one istiod from its start until every endpoint of the mesh has changed.
type Run struct {
	Sidecars  bool  `json:"sidecars"`
	Proxies   int64 `json:"proxies"`
	Endpoints int64 `json:"endpoints"` // that there are
	Seen      int64 `json:"seen"`      // by a proxy on average
	Clusters  int64 `json:"clusters"`  // outbound ones of a proxy on average

	Alone   Usage            `json:"alone"`   // without proxies, garbage collected
	Rest    Usage            `json:"rest"`    // with all of them, garbage collected
	Peak    Usage            `json:"peak"`    // the most of each while every endpoint changes
	Connect float64          `json:"connect"` // core·s for each proxy
	Push    float64          `json:"push"`    // core·s while every endpoint changes
	Took    float64          `json:"took"`    // seconds until all of that was sent
	Sent    map[string]int64 `json:"sent"`    // bytes for each proxy as it connects, by type
	Pushed  int64            `json:"pushed"`  // bytes for each proxy while every endpoint changes
}

// Usage is what an istiod takes: bytes, and core·s so far.
type Usage struct {
	Heap     float64 `json:"heap"`
	Resident float64 `json:"resident"`
	CPU      float64 `json:"cpu"`
}

// Read reads results, every field of which it must know.
func Read(from io.Reader) (*Results, error) {
	r := &Results{}
	decoder := json.NewDecoder(from)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(r); err != nil {
		return nil, fmt.Errorf("what the lab has measured: %w", err)
	}
	return r, nil
}
