package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/schema"
)

// report prints findings: on a terminal with the lines that they are about, of
// files below the folders that the command was given; elsewhere without.
func (s streams) report(found diag.List, folders ...string) error {
	screen := terminalOf(s.err)
	if screen == nil {
		return found.Text(s.err)
	}
	return found.Excerpts(s.err, columnsOf(screen), func(file string) ([]byte, error) {
		return readBelow(folders, file)
	})
}

// usualColumns is the width of a terminal that does not say its own.
const usualColumns = 80

func columnsOf(screen *os.File) int {
	columns, _, err := term.GetSize(int(screen.Fd()))
	if err != nil || columns <= 0 {
		return usualColumns
	}
	return columns
}

// readBelow reads a file as profiles are read, from the first folder that it is
// below; no name and no link leads out of them.
func readBelow(folders []string, file string) (data []byte, err error) {
	err = errOutside
	for _, folder := range folders {
		data, err = schema.ReadBounded(bounded(folder), nameIn(folder, file))
		if err == nil {
			break
		}
	}
	return data, err
}

// namedFolders are the folders that arguments name, and those of files that they
// name.
func namedFolders(args []string) []string {
	var folders []string
	for _, arg := range args {
		if info, err := os.Stat(arg); err == nil && !info.IsDir() {
			arg = filepath.Dir(arg)
		}
		folders = append(folders, arg)
	}
	return folders
}

// fail prints a failure, each of its lines as a terminal may show it.
func (s streams) fail(err error) {
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		lines[i] = diag.Visible(line)
	}
	fmt.Fprintf(s.err, "meshgen: %s\n", strings.Join(lines, "\n"))
}
