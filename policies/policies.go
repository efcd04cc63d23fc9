// Package policies judges what would be written: rules in Rego over the plan
// and over the Kubernetes objects that the cluster would receive. A policy is a
// second opinion in another language; it never recomputes the plan's
// arithmetic, and never sees Helm values or patches.
//
// A policy is <subject>/<policy>.rego with its test beside it. Its id is its
// path with dashes (keda/null-is-not-zero), and everything that is said about
// it stands in its METADATA; no Go code lists policies.
package policies

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/internal/plan"
)

// Prepare compiles the policies ahead of the first check, which says what is wrong
// with them.
func Prepare() { _, _ = compiled() }

// Check judges the objects of a cluster against its plan by every policy. An
// input that lacks what policies may read is an error, for Rego would take it
// as a pass.
func Check(ctx context.Context, p *plan.Plan, objects []manifests.Object) (diag.List, error) {
	if p == nil {
		return nil, errors.New("check policies: no plan")
	}
	e, err := compiled()
	if err != nil {
		return nil, err
	}
	found, err := e.judge(ctx, p, objects)
	if err != nil {
		return nil, fmt.Errorf("check policies of %s: %w", p.Cluster, err)
	}
	return found, nil
}

// CheckManifests judges objects by the policies that need no plan, and tells
// how many policies it left out.
func CheckManifests(ctx context.Context, objects []manifests.Object) (found diag.List, leftOut int, err error) {
	e, err := compiled()
	if err != nil {
		return nil, 0, err
	}
	for _, p := range e.policies {
		if p.needsPlan() {
			leftOut++
		}
	}
	found, err = e.judge(ctx, nil, objects)
	if err != nil {
		return nil, 0, fmt.Errorf("check policies: %w", err)
	}
	return found, leftOut, nil
}

func (e *engine) judge(ctx context.Context, p *plan.Plan, objects []manifests.Object) (diag.List, error) {
	denials, err := e.denials(ctx, p, objects)
	found := findings(denials, p)
	locate(found, objects)
	return found.Sorted(), err
}

// denials are those of the objects, judged once for clusters whose input is equal:
// nothing in it is a cluster's own name. What failed is judged again, since it may
// have been another's context that ended.
func (e *engine) denials(ctx context.Context, p *plan.Plan, objects []manifests.Object) ([]denial, error) {
	key, err := inputKey(p, objects)
	if err != nil {
		return nil, err
	}
	anew := func() ([]denial, error) {
		doc, err := document(p, objects)
		if err != nil {
			return nil, err
		}
		return e.judgeDocument(ctx, doc, p != nil)
	}
	if found, err := e.judged.Of(key, anew); err == nil {
		return found, nil
	}
	return anew()
}

// locate gives findings about objects the lines at which these begin.
func locate(found diag.List, objects []manifests.Object) {
	if len(found) == 0 {
		return
	}
	lines := map[string]diag.Pos{}
	for _, o := range objects {
		lines[o.File+"\x00"+subjectOf(o)] = o.Pos()
	}
	for i, f := range found {
		if at, ok := lines[f.File+"\x00"+f.Subject]; ok {
			found[i].Pos = at
		}
	}
}

// subjectOf is what the policies call an object.
func subjectOf(o manifests.Object) string {
	metadata, _ := o.Object["metadata"].(map[string]any)
	words := []string{fmt.Sprint(o.Object["kind"])}
	if namespace, _ := metadata["namespace"].(string); namespace != "" {
		words = append(words, namespace)
	}
	return strings.Join(append(words, fmt.Sprint(nameIn(metadata))), "/")
}

// judgeDocument holds an input, whole or of objects alone, against every policy that
// can judge it.
func (e *engine) judgeDocument(ctx context.Context, doc map[string]any, whole bool) ([]denial, error) {
	if err := e.validate(doc, whole); err != nil {
		return nil, err
	}
	in, err := parsed(doc)
	if err != nil {
		return nil, err
	}
	results, err := e.deny.Eval(ctx, rego.EvalParsedInput(in))
	if err != nil {
		return nil, err
	}
	var found []denial
	for _, r := range results {
		d, err := e.denial(r.Bindings)
		if err != nil {
			return nil, err
		}
		if whole || !d.policy.needsPlan() {
			found = append(found, d)
		}
	}
	return found, nil
}

// validate holds the input against input.json.
func (e *engine) validate(doc map[string]any, whole bool) error {
	var err error
	if whole {
		err = e.input.Validate(doc)
	} else {
		err = e.objects.Validate(doc["objects"])
	}
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		return fmt.Errorf("input is not what policies read: %s", describe(invalid))
	}
	return err
}

// describe lists the problems of a validation, at most three.
func describe(invalid *jsonschema.ValidationError) string {
	var words []string
	for _, unit := range invalid.BasicOutput().Errors {
		if unit.Error != nil {
			words = append(words, strings.TrimPrefix(unit.InstanceLocation+": ", ": ")+unit.Error.String())
		}
	}
	if n := len(words); n > 3 {
		words = append(words[:3], fmt.Sprintf("and %d more", n-3))
	}
	return strings.Join(words, "; ")
}

// denial is one element of a policy's deny set.
type denial struct {
	policy                 Policy
	subject, message, file string
}

func (e *engine) denial(b rego.Vars) (denial, error) {
	id := identifier(fmt.Sprint(b["subject"]), fmt.Sprint(b["policy"]))
	policy, ok := e.policies[id]
	if !ok {
		return denial{}, fmt.Errorf("policy %s denies and has no METADATA", id)
	}
	fields, _ := b["v"].(map[string]any)
	d := denial{policy: policy}
	d.subject, _ = fields["subject"].(string)
	d.message, _ = fields["message"].(string)
	d.file, _ = fields["file"].(string)
	if d.subject == "" || d.message == "" {
		return denial{}, fmt.Errorf("policy %s: a violation without subject or message: %v", id, b["v"])
	}
	return d, nil
}

func findings(denials []denial, p *plan.Plan) diag.List {
	var found diag.List
	for _, d := range denials {
		found = append(found, d.finding(p))
	}
	return found
}

// finding puts a denial where its subject stands: a decision where the
// profile asks for it, an object in its file, and what is not there at the top
// of the profile. A file holds many objects, so that the message names its own.
func (d denial) finding(p *plan.Plan) diag.Finding {
	f := diag.Finding{
		Severity: d.policy.Severity, ID: d.policy.ID,
		Subject: d.subject, Message: d.message, Hint: d.policy.Remedy,
	}
	if p != nil {
		if decision, ok := p.Decision(d.subject); ok {
			f.Pos = decision.Pos
			return f
		}
	}
	switch {
	case d.file != "":
		f.File = placed(d.file, p)
		f.Message = d.subject + ": " + f.Message
	case p != nil && len(p.Decisions) > 0:
		f.Pos = diag.Pos{File: p.Decisions[0].Pos.File, Line: 1, Column: 1}
	}
	return f
}
