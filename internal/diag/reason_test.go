package diag

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
)

func TestAReasonHasNoCallInIt(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	_, missing := root.Stat("v0.yaml")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"a file that is not there":     {missing, "v0.yaml: no such file or directory"},
		"an error around it stays":     {fmt.Errorf("import failed: %w", missing), "import failed: v0.yaml: no such file or directory"},
		"an error of a path of ours":   {&fs.PathError{Op: "open", Path: "a.yaml", Err: errors.New("it is a link")}, "a.yaml: it is a link"},
		"an error that has no path":    {errors.New("open the door"), "open the door"},
		"a path that is called a call": {&fs.PathError{Op: "open", Path: "open", Err: fs.ErrNotExist}, "open: file does not exist"},
	} {
		if got := Reason(c.err); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
