// Package image_test makes what docs/ci/Dockerfile makes, without an engine: the
// program by the file's own command, alone in a folder that is a process's root.
package image_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

const root = "../.."

// instruction is a line of a Dockerfile; this one has no continued lines.
var instruction = regexp.MustCompile(`(?m)^([A-Z]+) (.*)$`)

func TestTheImageHasNothingButTheProgram(t *testing.T) {
	data, err := os.ReadFile(root + "/docs/ci/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	var build, user, entry, from string
	var copied []string
	for _, m := range instruction.FindAllStringSubmatch(string(data), -1) {
		switch word, rest := m[1], m[2]; {
		case word == "FROM":
			from, copied = rest, nil
		case word == "RUN" && strings.Contains(rest, "go build"):
			build = rest
		case word == "COPY":
			copied = append(copied, rest)
		case word == "USER":
			user = rest
		case word == "ENTRYPOINT":
			entry = rest
		}
	}
	if from != "scratch" || len(copied) != 1 || copied[0] != "--from=build /meshgen /bin/meshgen" || user != "65532:65532" || entry != `["/bin/meshgen"]` {
		t.Fatalf("the image is %s with %q, run by %s as %s", from, copied, user, entry)
	}
	image := t.TempDir()
	program := filepath.Join(image, "bin", "meshgen")
	made := exec.Command("sh", "-ec", strings.Replace(build, "-o /meshgen", "-o '"+program+"'", 1))
	made.Dir = root
	if printed, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build, err, printed)
	}
	isStatic(t, program)
	profile, err := os.ReadFile(root + "/examples/clusters/boutique/profile.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(image, "profile.yaml"), profile, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(image, 0o755); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("/bin/meshgen", "build", "profile.yaml")
	run.Dir, run.Env = "/", []string{"PATH=/bin"}
	run.SysProcAttr = &syscall.SysProcAttr{Chroot: image, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	run.Stderr = os.Stderr
	printed, err := run.Output()
	if err != nil || !strings.Contains(string(printed), "kind: PodDisruptionBudget") {
		t.Errorf("%v, printed %d bytes", err, len(printed))
	}
}

// isStatic judges that no loader and no library of a system is asked for.
func isStatic(t *testing.T, program string) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the program is linked to others: %v", p.Type)
		}
	}
}
