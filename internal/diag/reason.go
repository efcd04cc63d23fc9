package diag

import (
	"errors"
	"io/fs"
	"strings"
)

// Reason is an error as a finding says it: a file system's is the path and what is
// wrong with it, without the call that met it, which is a program's word (statat).
func Reason(err error) string {
	var p *fs.PathError
	if !errors.As(err, &p) {
		return err.Error()
	}
	return strings.Replace(err.Error(), p.Error(), p.Path+": "+p.Err.Error(), 1)
}
