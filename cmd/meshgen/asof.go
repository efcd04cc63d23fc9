package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// asOfValue is the day that exceptions and events are held against, as a flag: a
// date, which is its first moment in UTC, or an instant. Nobody's clock is asked.
type asOfValue time.Time

// String is the moment; empty for none.
func (a *asOfValue) String() string {
	if at := time.Time(*a); !at.IsZero() {
		return at.Format(time.RFC3339)
	}
	return ""
}

// Set reads a date or an instant in RFC 3339.
func (a *asOfValue) Set(text string) error {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			*a = asOfValue(at)
			return nil
		}
	}
	return errors.New("expected a date such as 2026-12-31, or an RFC 3339 instant")
}

// Type is what help calls the value.
func (a *asOfValue) Type() string { return "date" }

func asOfFlag(cmd *cobra.Command, at *time.Time) {
	cmd.Flags().Var((*asOfValue)(at), "as-of", "day on which exceptions that have expired and events that have ended are found; what is written does not depend on it")
}

// exceptedText is ", 2 findings excepted", or nothing.
func (o *outcome) exceptedText() string {
	if len(o.still) == 0 {
		return ""
	}
	return fmt.Sprintf(", %s excepted", counted(len(o.still), "finding"))
}
