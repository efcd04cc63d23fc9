package sizing

import "math/big"

// Multiple is r up to a multiple of z > 0. It is exact at any size.
func Multiple(r, z *big.Rat) *big.Rat {
	n := new(big.Rat).SetInt(Ceil(new(big.Rat).Quo(r, z)))
	return n.Mul(n, z)
}

// Utilization is the share of what its pods can do that a Service uses:
// peak·m / (perEndpoint·pods), m being a multiple of its daily peak. perEndpoint
// and pods must be positive.
func Utilization(peak, m, perEndpoint *big.Rat, pods int64) *big.Rat {
	can := new(big.Rat).Mul(perEndpoint, big.NewRat(pods, 1))
	used := new(big.Rat).Mul(peak, m)
	return used.Quo(used, can)
}

// LeaveLargest is the sum of the parts without the largest of them, and the
// index of that one. A single part cannot be lost: it is all that there is, and
// the index is -1, as it is without parts. The first of equals is lost.
func LeaveLargest(parts []*big.Rat) (left *big.Rat, lost int) {
	left, lost = new(big.Rat), -1
	for i, part := range parts {
		left.Add(left, part)
		if part.Sign() > 0 && (lost < 0 || part.Cmp(parts[lost]) > 0) {
			lost = i
		}
	}
	if lost < 0 || left.Cmp(parts[lost]) == 0 {
		return left, -1
	}
	return left.Sub(left, parts[lost]), lost
}
