package main

import (
	"strings"
	"unicode"
)

// maxForeign is how much is shown of a value that somebody else's server chose.
const maxForeign = 80

// oneLine joins lines and drops what a terminal would obey: some text comes from other parties.
func oneLine(text string) string {
	fields := strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool { return unicode.IsSpace(r) })
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf) {
			return -1
		}
		return r
	}, strings.Join(fields, " "))
}

func short(text string) string {
	if runes := []rune(text); len(runes) > maxForeign {
		return string(runes[:maxForeign]) + "..."
	}
	return text
}
