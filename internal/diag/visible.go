package diag

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible is a text with what a terminal would obey, or not show, escaped as Go
// escapes it: control characters, those that turn the direction of writing, line
// ends, and bytes that are no UTF-8. Names and errors come from files by anyone.
func Visible(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, isHidden) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		_, size := utf8.DecodeRuneInString(text)
		b.WriteString(visibleRune(text[:size]))
		text = text[size:]
	}
	return b.String()
}

func isHidden(r rune) bool { return !unicode.IsGraphic(r) }

// visibleRune is Visible of one character, or of one byte that is none.
func visibleRune(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case r == utf8.RuneError && size == 1:
		return fmt.Sprintf(`\x%02x`, text[0])
	case isHidden(r):
		return strings.Trim(strconv.QuoteRune(r), "'")
	}
	return text
}
