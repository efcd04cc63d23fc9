//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/meshgen/meshgen/schema"
)

// What invalid input may cost, whatever it is: of the processors, for the clock
// tells of the machine; and of memory, the largest process beside one that has
// only started, which has less than a hundred MiB.
const (
	hostileTime   = 2 * time.Second
	hostileMemory = (500 - 100) << 20 // bytes
)

const top = "apiVersion: meshgen.dev/v1alpha1\nkind: ClusterProfile\nmetadata: {name: x}\nspec:\n"

// filled is a text of nearly the largest size that is read.
func filled(head, item, tail string) string {
	return head + strings.Repeat(item, (schema.MaxSize-len(head)-len(tail))/len(item)) + tail
}

func numbered(head, format string, n int) string {
	var b strings.Builder
	b.WriteString(head)
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// bomb is a line of ten, and so many lines of ten aliases of the one before.
func bomb(lines int) string {
	text := "a: &a [0,0,0,0,0,0,0,0,0,0]\n"
	for i := range lines {
		text += fmt.Sprintf("%c: &%c [%s]\n", 'b'+i, 'b'+i, strings.Repeat(fmt.Sprintf("*%c,", 'a'+i), 10))
	}
	return text
}

// hostile is a profile, and the finding that it is owed. The text is made when it
// is needed: a process is counted with the memory of the one that starts it.
type hostile struct {
	file string
	text func() string
	want string
}

func TestHostileProfilesAreRefusedWithinBounds(t *testing.T) {
	for name, test := range map[string]hostile{
		"a file beyond the largest size":  {"profile.yaml", func() string { return strings.Repeat("#", schema.MaxSize+1) }, schema.TooLarge},
		"nothing but dashes on lines":     {"profile.yaml", func() string { return filled("", "-\n", "") }, schema.TooLarge},
		"nothing but opened lists":        {"profile.yaml", func() string { return filled("", "[", "") }, schema.TooLarge},
		"a flow list of millions":         {"profile.yaml", func() string { return filled("a: [", "1,", "]") }, schema.TooLarge},
		"lists nested almost without end": {"profile.yaml", func() string { return strings.Repeat("- ", 9990) + "\n" }, schema.TooLarge},
		"nothing but zero bytes":          {"profile.yaml", func() string { return filled("", "\x00", "") }, schema.NotYAML},
		"nothing but comments":            {"profile.yaml", func() string { return filled("", "# x\n", "") }, schema.TooLarge},
		"nothing but line ends":           {"profile.yaml", func() string { return filled("", "\n", "") }, schema.NotYAML},
		"zones by the ten thousand":       {"profile.yaml", func() string { return numbered(top+"  zones:\n", "  - {name: z%d, nodePools: []}\n", 25_000) }, schema.InvalidValue},
		"a million names for tags":        {"profile.yaml", func() string { return numbered("", "%%TAG !a%d! tag:x\n", 400_000) + "---\na: 1\n" }, schema.NotYAML},
		"an alias bomb":                   {"profile.yaml", func() string { return bomb(20) }, schema.TooLarge},
		"an alias inside of its anchor":   {"profile.yaml", func() string { return "a: &a [*a]\n" }, schema.TooLarge},
		"a long text by alias": {"profile.yaml", func() string {
			return top + "  zones: [&a \"" + strings.Repeat("x", 4<<20) + "\"" + strings.Repeat(",*a", 200_000) + "]\n"
		}, schema.TooLarge},
		"a long key by alias": {"profile.yaml", func() string {
			return "x: &a " + strings.Repeat("x", 4<<20) + "\n" + top + "  services: [" + strings.Repeat("{*a : 1},", 100_000) + "]\n"
		}, schema.TooLarge},
		"a merge key by the hundred thousand":             {"profile.yaml", func() string { return "a: &a {x: 1}\nb:\n" + strings.Repeat("  <<: *a\n", 200_000) }, schema.TooLarge},
		"empty services by the hundred thousand":          {"profile.yaml", func() string { return top + "  services:\n" + strings.Repeat("  - {}\n", 130_000) }, schema.TooMany},
		"one key by the hundred thousand":                 {"profile.yaml", func() string { return top + strings.Repeat("  x: 1\n", 250_000) }, schema.TooMany},
		"unknown fields by the hundred thousand":          {"profile.yaml", func() string { return numbered(top, "  f%d: 1\n", 250_000) }, schema.TooMany},
		"names without a service by the hundred thousand": {"profile.yaml", func() string { return numbered(top+"  services:\n  - name: a\n    calls:\n", "    - x/y%d\n", 250_000) }, schema.MissingField},
		"different names by the hundred thousand":         {"profile.yaml", func() string { return numbered(top+"  services:\n", "  - {name: n%d}\n", 100_000) }, schema.TooMany},
		"a number of megabytes":                           {"profile.yaml", func() string { return top + "  istiod: {headroom: " + strings.Repeat("9", 4<<20) + "}\n" }, schema.InvalidValue},
		"a quantity of megabytes": {"profile.yaml", func() string {
			return top + "  istiod: {resources: {memory: " + strings.Repeat("8", 4<<20) + "Mi}}\n"
		}, schema.InvalidValue},
		"a number with an exponent beyond all": {"profile.yaml", func() string { return top + "  istiod: {headroom: 1e999999999}\n" }, schema.InvalidValue},
		"CUE that is nested without end":       {"profile.cue", func() string { return filled("a: ", "[", "") }, schema.NotCUE},
		"CUE whose attributes are nested":      {"profile.cue", func() string { return "a: 1 @a(" + strings.Repeat("(", 4<<20) }, schema.TooLarge},
		"CUE in a circle":                      {"profile.cue", func() string { return "a: {b: a}\n" }, schema.NotCUE},
		"CUE that counts to a billion":         {"profile.cue", func() string { return "import \"list\"\na: list.Range(0, 1000000000, 1)\n" }, schema.TooLarge},
		"CUE that multiplies lists": {"profile.cue", func() string {
			return "import \"list\"\nl: list.Range(0, 1000, 1)\na: [for x in l for y in l for z in l {x*y*z}]\n"
		}, schema.TooLarge},
		"CUE that doubles a text forty times": {"profile.cue", func() string { return "a0: \"xxxxxxxx\"\n" + doubled(40) }, schema.TooLarge},
		"CUE with a choice of thirty choices": {"profile.cue", func() string { return choices(30) }, schema.TooLarge},
		"CUE that lets text explode at once": {"profile.cue", func() string {
			return "import \"strings\"\na: strings.Replace(strings.Repeat(\"a\", 1000000), \"a\", strings.Repeat(\"b\", 1000000), -1)\n"
		}, schema.TooLarge},
		"CUE of a million fields":      {"profile.cue", func() string { return numbered("", "k%d: 1\n", 600_000) }, schema.TooLarge},
		"CUE that would run a program": {"profile.cue", func() string { return "import \"tool/exec\"\na: exec.Run & {cmd: \"id\"}\n" }, schema.NotCUE},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), test.file)
			if err := os.WriteFile(path, []byte(test.text()), 0o600); err != nil {
				t.Fatal(err)
			}
			debug.FreeOSMemory()
			judgeHostile(t, path, test.want)
		})
	}
}

func doubled(times int) string {
	var b strings.Builder
	for i := range times {
		fmt.Fprintf(&b, "a%d: a%d + a%d\n", i+1, i, i)
	}
	return b.String()
}

func choices(n int) string {
	text := "a: {}"
	for i := range n {
		text += fmt.Sprintf(" & ({a%d: 1} | {b%d: 2})", i, i)
	}
	return text + "\n"
}

func judgeHostile(t *testing.T, path, want string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := &exec.Cmd{Path: program, Args: []string{"meshgen", "validate", path}, Env: []string{}, Stdout: &out, Stderr: &out}
	_ = cmd.Run() // the status is judged below
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("no usage of resources")
	}
	memory := usage.Maxrss << 10
	took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	t.Logf("%.2f s, %d MiB, %d bytes printed", took.Seconds(), memory>>20, out.Len())
	text := out.String()
	if cmd.ProcessState.ExitCode() != int(invalid) || !strings.Contains(text, "["+want+"]") {
		t.Errorf("exit status %d, want %d and %s:\n%.600s", cmd.ProcessState.ExitCode(), invalid, want, text)
	}
	if took > hostileTime || memory > hostileMemory {
		t.Errorf("took %s and %d MiB", took, memory>>20)
	}
}
