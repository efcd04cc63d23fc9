package prometheus

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/meshgen/meshgen/internal/calibrate"
)

// answer is what the API sends for a query_range.
type answer struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   *struct {
		ResultType string          `json:"resultType"`
		Result     json.RawMessage `json:"result"`
	} `json:"data"`
}

// Answer reads the series of one saved answer of the API's query_range.
func Answer(data []byte) ([]calibrate.Series, error) {
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, fmt.Errorf("it is no answer of Prometheus' API: %w", err)
	}
	if a.Status == "error" {
		return nil, fmt.Errorf("the server answered with an error: %s", a.Error)
	}
	if a.Data == nil {
		return nil, errors.New(`it has no "data", as answers of Prometheus' API do`)
	}
	if a.Data.ResultType != "matrix" {
		return nil, fmt.Errorf("its resultType is %q: ask query_range, which answers with a matrix", a.Data.ResultType)
	}
	var matrix model.Matrix
	if err := json.Unmarshal(a.Data.Result, &matrix); err != nil {
		return nil, fmt.Errorf("its result is no matrix: %w", err)
	}
	for _, stream := range matrix {
		if stream == nil {
			return nil, errors.New("its result holds null where a series is meant")
		}
	}
	return series(matrix), nil
}
