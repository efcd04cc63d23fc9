package diag

// Nearest is the candidate that a misspelt name most likely meant: the one with
// the fewest edits, at most a third of the name's length (and at least 2); the
// first of equals. ok is false when none is that near.
func Nearest(name string, candidates []string) (nearest string, ok bool) {
	best := max(2, len(name)/3) + 1
	for _, c := range candidates {
		if d := edits(name, c, best); d < best {
			best, nearest, ok = d, c, true
		}
	}
	return nearest, ok
}

// edits is the Levenshtein distance, or limit when it is not below it.
func edits(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal, row[j] = row[j], min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return min(row[len(b)], limit)
}
