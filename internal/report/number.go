package report

import (
	"strconv"
	"strings"
)

// unknown is written for what is not a number.
const unknown = "–"

// rounded is a number with as many decimals, thousands apart.
func rounded(v float64, decimals int) string {
	if !known(v) {
		return unknown
	}
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	whole, rest, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return whole
}

// number is a count: whole, or with one decimal where it is between.
func number(v float64) string { return strings.TrimSuffix(rounded(v, 1), ".0") }

// whole is a number without decimals.
func whole(v float64) string { return rounded(v, 0) }

// tenth is a number with one decimal.
func tenth(v float64) string { return rounded(v, 1) }

// percentSign stays on the line of its number.
const percentSign = "\u00A0%"

// percent is a share.
func percent(v float64) string { return number(v*100) + percentSign }

// percentTenth is a share with one decimal of its percent.
func percentTenth(v float64) string { return rounded(v*100, 1) + percentSign }
