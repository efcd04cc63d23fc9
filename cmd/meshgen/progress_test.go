package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/meshgen/meshgen/internal/diag"
)

// terminal opens a pseudo terminal of so many columns: what is written to tty
// comes out of screen, until the tty is closed. Somebody looks at it: the test is in
// no CI.
func terminal(t *testing.T, columns uint16) (screen, tty *os.File) {
	t.Helper()
	t.Setenv("CI", "")
	t.Setenv("TERM", "xterm")
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	number, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return screen, tty
}

// shown is what a command writes to a terminal as its standard error.
func shown(t *testing.T, columns uint16, do func(tty *os.File)) string {
	t.Helper()
	screen, tty := terminal(t, columns)
	all := make(chan string)
	go func() {
		var text bytes.Buffer
		_, _ = io.Copy(&text, screen) // ends with an error when the tty is closed
		all <- text.String()
	}()
	do(tty)
	tty.Close()
	return strings.ReplaceAll(<-all, "\r\n", "\n")
}

func TestOneLineShowsProgressOnATerminal(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(folder, name+".yaml"), []byte("kind: none\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	var out bytes.Buffer
	got := shown(t, 80, func(tty *os.File) {
		if code := run([]string{"validate", "a.yaml", "b.yaml"}, streams{nil, &out, tty}); code != int(invalid) {
			t.Errorf("exit status %d", code)
		}
	})
	before, after, ok := strings.Cut(got, "\r1/2 a.yaml: 1 error\r\x1b[K")
	if !ok || !strings.HasPrefix(before, "\r0/2\r\x1b[Ka.yaml:1:1: error: ") || !strings.HasPrefix(after, "b.yaml:1:1: error: ") {
		t.Errorf("shown %q", got)
	}
	if strings.Contains(after, "\r") {
		t.Errorf("after the last cluster %q is left", after)
	}
	if out.Len() > 0 {
		t.Errorf("standard output has %q", out.String())
	}
}

func TestALongNameDoesNotWrap(t *testing.T) {
	got := shown(t, 20, func(tty *os.File) {
		p := newProgress(tty, 50)
		p.add(member{cluster: "ap-northeast-2-payments"}, nil)
		p.show()
	})
	if want := "\r1/50 ap-northeast-2"; got != want {
		t.Errorf("shown %q, want %q", got, want)
	}
}

func TestThereIsNoProgressWithoutATerminalOrAFleet(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	alone := shown(t, 80, func(tty *os.File) {
		p := newProgress(tty, 1)
		p.show()
		p.clear()
	})
	p := newProgress(file, 50)
	p.add(member{cluster: "seoul"}, nil)
	p.show()
	p.clear()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if alone != "" || info.Size() > 0 {
		t.Errorf("one cluster: %q; a file: %d bytes", alone, info.Size())
	}
}

func TestProgressCountsWhatWasFound(t *testing.T) {
	p := &progress{total: 3}
	for _, step := range []struct {
		member member
		found  diag.List
		want   string
	}{
		{member{"a/profile.yaml", "seoul", diag.Pos{}}, nil, "1/3 seoul"},
		{member{"b/profile.yaml", "", diag.Pos{}}, diag.List{{Severity: diag.Error}, {Severity: diag.Error}}, "2/3 b/profile.yaml: 2 errors"},
		{member{"c/profile.yaml", "tokyo", diag.Pos{}}, diag.List{{Severity: diag.Warning}}, "3/3 tokyo: 2 errors, 1 warning"},
		{member{"d/profile.yaml", "\x1b[2J", diag.Pos{}}, nil, `4/3 \x1b[2J: 2 errors, 1 warning`},
	} {
		p.add(step.member, step.found)
		if got := p.String(); got != step.want {
			t.Errorf("shown %q, want %q", got, step.want)
		}
	}
}

// A CI job may have a terminal too, of which it keeps a log; and one that calls
// itself dumb writes nothing anew.
func TestProgressIsForAPersonAtATerminal(t *testing.T) {
	for name, c := range map[string]struct {
		ci, term string
		want     bool
	}{
		"a person at a terminal":          {"", "xterm-256color", true},
		"a terminal without a name":       {"", "", true},
		"CI is said to be false":          {"false", "xterm", true},
		"CI is said to be true":           {"true", "xterm", false},
		"CI is a number":                  {"1", "xterm", false},
		"CI has its name":                 {"woodpecker", "xterm", false},
		"a dumb terminal":                 {"", "dumb", false},
		"a dumb terminal that is no CI":   {"false", "dumb", false},
		"CI with a terminal that is dumb": {"true", "dumb", false},
	} {
		t.Run(name, func(t *testing.T) {
			fleet := shown(t, 80, func(tty *os.File) {
				t.Setenv("CI", c.ci)
				t.Setenv("TERM", c.term)
				p := newProgress(tty, 50)
				p.show()
				p.clear()
			})
			trials := shown(t, 80, func(tty *os.File) {
				t.Setenv("CI", c.ci)
				t.Setenv("TERM", c.term)
				if show := trialProgress(tty); show != nil {
					show(1, 2)
				}
			})
			if want := "\r0/50\r\x1b[K"; c.want && (fleet != want || trials != "\r1/2 trials") {
				t.Errorf("a fleet shows %q, trials %q", fleet, trials)
			}
			if !c.want && fleet+trials != "" {
				t.Errorf("a fleet shows %q, trials %q, where nobody looks", fleet, trials)
			}
		})
	}
}

// A simulation's trials are counted in one line, which is gone after the last;
// where nobody looks there is none.
func TestTrialsAreCounted(t *testing.T) {
	if trialProgress(new(bytes.Buffer)) != nil {
		t.Error("it is shown where there is no terminal")
	}
	screen, tty := terminal(t, 80)
	show := trialProgress(tty)
	show(1, 2)
	show(2, 2)
	tty.Close()
	shown, _ := io.ReadAll(screen)
	if want := "\r1/2 trials\r\x1b[K"; string(shown) != want {
		t.Errorf("%q, want %q", shown, want)
	}
}
