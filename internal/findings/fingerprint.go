package findings

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
)

var (
	index  = regexp.MustCompile(`\[[0-9]+\]`)
	amount = regexp.MustCompile(`\b[0-9]+(?:[.,][0-9]+)*`)
)

// fingerprints tell findings apart for as long as they stay what they are: by
// id, file as seen from the folder, subject and message, without lines, and without numbers and indices,
// which move with what stands elsewhere. Those that are alike are counted, as
// "hash:n" in the order of the file; GitHub writes its own that way.
func fingerprints(sorted diag.List, folder string) []string {
	seen := map[string]int{}
	prints := make([]string, len(sorted))
	for i, f := range sorted {
		key := strings.Join([]string{f.ID, relative(folder, f.File), index.ReplaceAllString(f.Subject, "[]"), amount.ReplaceAllString(f.Message, "0")}, "\x00")
		sum := sha256.Sum256([]byte(key))
		hash := hex.EncodeToString(sum[:16])
		seen[hash]++
		prints[i] = fmt.Sprintf("%s:%d", hash, seen[hash])
	}
	return prints
}
