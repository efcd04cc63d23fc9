// Package review writes what people read about a cluster's output: PLAN.md, and
// meshgen.lock.json, which says what meshgen owns. It comes after every stage
// that finds things and decides nothing itself.
package review

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/findings"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
)

const owner = "review"

// LockFile is the name of the file in a cluster's folder that lists what
// meshgen owns there.
const LockFile = "meshgen.lock.json"

// lock lists the files of a cluster's folder that are meshgen's to replace and
// to remove, and the digest of the profile with its defaults.
type lock struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Cluster    string   `json:"cluster"`
	Profile    string   `json:"profile"` // sha256:…
	Files      []string `json:"files"`   // relative to the cluster's folder, sorted
}

// Render adds PLAN.md and the lock to a cluster's generated files. The findings
// are those of every stage, and what the profile excepts from them.
func Render(p *profile.Profile, pl *plan.Plan, found diag.List, excepted []findings.Excepted, tree *artifact.Tree) error {
	page := artifact.File{Path: pl.Cluster + "/PLAN.md", Owner: owner, Data: []byte(Markdown(pl, found, excepted))}
	if err := tree.Add(page); err != nil {
		return err
	}
	data, err := lockData(p, tree)
	if err != nil {
		return fmt.Errorf("lock of %s: %w", pl.Cluster, err)
	}
	return tree.Add(artifact.File{Path: pl.Cluster + "/" + LockFile, Owner: owner, Data: data})
}

func lockData(p *profile.Profile, tree *artifact.Tree) ([]byte, error) {
	input, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(input)
	l := lock{p.APIVersion, "Lock", p.Metadata.Name, "sha256:" + hex.EncodeToString(sum[:]), []string{LockFile}}
	for _, f := range tree.Files() {
		l.Files = append(l.Files, strings.TrimPrefix(f.Path, p.Metadata.Name+"/"))
	}
	slices.Sort(l.Files)
	data, err := json.MarshalIndent(l, "", "  ")
	return append(data, '\n'), err
}
