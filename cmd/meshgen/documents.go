package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/internal/findings"
)

// document is a file that has what was found, besides what is printed.
type document struct {
	format findings.Format
	file   string
}

// write replaces the file, or fails.
func (d document) write(r findings.Report) (err error) {
	f, err := os.Create(d.file)
	if err != nil {
		return err
	}
	if err := findings.Write(f, d.format, r); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// documentFiles are a flag that may be given again for another file.
type documentFiles []document

// String is empty: there is no default.
func (*documentFiles) String() string { return "" }

// Set reads FORMAT=FILE.
func (d *documentFiles) Set(text string) error {
	word, file, _ := strings.Cut(text, "=")
	if file == "" || !isFormat(word) || findings.Format(word) == findings.Text {
		return fmt.Errorf("expected FORMAT=FILE, where FORMAT is one of %s", strings.TrimPrefix(formatWords(), "text, "))
	}
	*d = append(*d, document{findings.Format(word), file})
	return nil
}

// Type is what help calls the value.
func (*documentFiles) Type() string { return "FORMAT=FILE" }

func documentsFlag(cmd *cobra.Command, d *documentFiles) {
	cmd.Flags().Var(d, "findings", "write findings into a file too, in one of the formats, whatever is printed; again for another")
}
