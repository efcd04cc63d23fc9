package findings

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
)

// maxResults is how many results of a run GitHub takes; it refuses the file else.
const maxResults = 25_000

const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	project     = "https://github.com/meshgen/meshgen"
)

// The parts of SARIF 2.1.0 that are written, by the specification's own names.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	ColumnKind  string            `json:"columnKind"`
	Results     []sarifResult     `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID                   string              `json:"id"`
	ShortDescription     sarifMessage        `json:"shortDescription"`
	FullDescription      sarifMessage        `json:"fullDescription"`
	Help                 sarifMessage        `json:"help"`
	HelpURI              string              `json:"helpUri"`
	DefaultConfiguration *sarifConfiguration `json:"defaultConfiguration,omitempty"`
	Properties           sarifProperties     `json:"properties"`
}

type sarifConfiguration struct {
	Level string `json:"level"`
}

type sarifProperties struct {
	Tags []string `json:"tags"`
}

type sarifMessage struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown,omitempty"`
}

type sarifInvocation struct {
	ExecutionSuccessful        bool                `json:"executionSuccessful"`
	ToolExecutionNotifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct {
	Level   string       `json:"level"`
	Message sarifMessage `json:"message"`
}

type sarifResult struct {
	RuleID              string            `json:"ruleId"`
	RuleIndex           int               `json:"ruleIndex"`
	Level               string            `json:"level"`
	Message             sarifMessage      `json:"message"`
	Locations           []sarifLocation   `json:"locations"`
	RelatedLocations    []sarifLocation   `json:"relatedLocations,omitempty"`
	PartialFingerprints map[string]string `json:"partialFingerprints"`
}

type sarifLocation struct {
	ID               int                    `json:"id,omitempty"`
	PhysicalLocation sarifPhysicalLocation  `json:"physicalLocation"`
	LogicalLocations []sarifLogicalLocation `json:"logicalLocations,omitempty"`
	Message          *sarifMessage          `json:"message,omitempty"`
}

type sarifPhysicalLocation struct {
	ArtifactLocation sarifArtifact `json:"artifactLocation"`
	Region           *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn"`
}

type sarifLogicalLocation struct {
	FullyQualifiedName string `json:"fullyQualifiedName"`
}

func writeSARIF(w io.Writer, r Report) error {
	results, notes := fitting(r.results())
	for _, failure := range r.Failures {
		notes = append(notes, sarifNotification{"error", sarifMessage{Text: diag.Visible(failure)}})
	}
	rules := r.rules(results)
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{"meshgen", project, make([]sarifRule, len(rules))}},
		Invocations: []sarifInvocation{{len(r.Failures) == 0, notes}},
		ColumnKind:  "unicodeCodePoints",
		Results:     make([]sarifResult, len(results)),
	}
	places := map[string]int{}
	for i, rule := range rules {
		run.Tool.Driver.Rules[i] = sarifRuleOf(rule)
		places[rule.ID] = i
	}
	for i, f := range results {
		run.Results[i] = sarifResultOf(f, places[f.ID])
	}
	return encode(w, sarifLog{sarifSchema, "2.1.0", []sarifRun{run}})
}

// fitting are as many results as GitHub takes, errors before warnings where they
// are more, and a note of what was left out.
func fitting(results []result) ([]result, []sarifNotification) {
	more := len(results) - maxResults
	if more <= 0 {
		return results, nil
	}
	slices.SortStableFunc(results, func(a, b result) int { return strings.Compare(string(a.Severity), string(b.Severity)) })
	return results[:maxResults], []sarifNotification{{"warning", sarifMessage{
		Text: fmt.Sprintf("%d of %d results are left out, warnings before errors: a run has at most %d", more, len(results), maxResults),
	}}}
}

func sarifRuleOf(r Rule) sarifRule {
	stage, _, _ := strings.Cut(r.ID, "/")
	out := sarifRule{
		ID: r.ID, ShortDescription: sarifMessage{Text: r.Title}, FullDescription: sarifMessage{Text: r.Description},
		Help: helpOf(r), HelpURI: project + cmp.Or(r.Page, "#findings"), Properties: sarifProperties{Tags: []string{stage}},
	}
	if r.Severity != "" {
		out.DefaultConfiguration = &sarifConfiguration{string(r.Severity)}
	}
	return out
}

func helpOf(r Rule) sarifMessage {
	plain, marked := []string{r.Remedy}, []string{"**What to do:** " + r.Remedy}
	if r.Source != "" {
		plain = append(plain, r.Description, "Source: "+r.Source)
		marked = append(marked, "**Why:** "+r.Description, "**Source:** "+r.Source)
	}
	return sarifMessage{strings.Join(plain, "\n\n"), strings.Join(marked, "\n\n")}
}

// sarifResultOf is a result where the reader is sent; what was rendered from
// there, and is judged, is related to it.
func sarifResultOf(f result, rule int) sarifResult {
	out := sarifResult{
		RuleID: f.ID, RuleIndex: rule, Level: string(f.Severity), Message: sarifMessage{Text: text(f.Finding)},
		Locations:           []sarifLocation{sarifLocationOf(f.at)},
		PartialFingerprints: map[string]string{"primaryLocationLineHash": f.fingerprint},
	}
	if f.Subject != "" {
		out.Locations[0].LogicalLocations = []sarifLogicalLocation{{diag.Visible(f.Subject)}}
	}
	if f.rendered {
		related := sarifLocationOf(f.Pos)
		related.ID, related.Message = 1, &sarifMessage{Text: "what is rendered from it"}
		out.RelatedLocations = []sarifLocation{related}
	}
	return out
}

// sarifLocationOf leaves the region out where the line is unknown: the finding
// is then about the whole file.
func sarifLocationOf(p diag.Pos) sarifLocation {
	out := sarifLocation{PhysicalLocation: sarifPhysicalLocation{ArtifactLocation: sarifArtifact{uri(p.File)}}}
	if p.Line > 0 {
		out.PhysicalLocation.Region = &sarifRegion{p.Line, max(p.Column, 1)}
	}
	return out
}
