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
	doc, err := document(p, objects)
	if err != nil {
		return nil, err
	}
	found, err := e.judgeDocument(ctx, p, doc)
	locate(found, objects)
	return found.Sorted(), err
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

func (e *engine) judgeDocument(ctx context.Context, p *plan.Plan, doc map[string]any) (diag.List, error) {
	if err := e.validate(doc, p != nil); err != nil {
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
	var found diag.List
	for _, r := range results {
		policy, v, err := e.violation(r.Bindings)
		if err != nil {
			return nil, err
		}
		if p != nil || !policy.needsPlan() {
			found = append(found, policy.finding(v, p))
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

// violation is one element of a policy's deny set.
type violation struct{ subject, message, file string }

func (e *engine) violation(b rego.Vars) (Policy, violation, error) {
	id := identifier(fmt.Sprint(b["subject"]), fmt.Sprint(b["policy"]))
	policy, ok := e.policies[id]
	if !ok {
		return Policy{}, violation{}, fmt.Errorf("policy %s denies and has no METADATA", id)
	}
	fields, _ := b["v"].(map[string]any)
	var v violation
	v.subject, _ = fields["subject"].(string)
	v.message, _ = fields["message"].(string)
	v.file, _ = fields["file"].(string)
	if v.subject == "" || v.message == "" {
		return Policy{}, violation{}, fmt.Errorf("policy %s: a violation without subject or message: %v", id, b["v"])
	}
	return policy, v, nil
}

// finding puts a violation where its subject stands: a decision where the
// profile asks for it, an object in its file, and what is not there at the top
// of the profile. A file holds many objects, so that the message names its own.
func (policy Policy) finding(v violation, p *plan.Plan) diag.Finding {
	f := diag.Finding{
		Severity: policy.Severity, ID: policy.ID,
		Subject: v.subject, Message: v.message, Hint: policy.Remedy,
	}
	if p != nil {
		if d, ok := p.Decision(v.subject); ok {
			f.Pos = d.Pos
			return f
		}
	}
	switch {
	case v.file != "":
		f.File = v.file
		f.Message = v.subject + ": " + f.Message
	case p != nil && len(p.Decisions) > 0:
		f.Pos = diag.Pos{File: p.Decisions[0].Pos.File, Line: 1, Column: 1}
	}
	return f
}
