// Package image_test makes what docs/ci/Dockerfile makes, without an engine: the
// program by the file's own command, alone in a folder that is a process's root. Of
// the image for jobs it reads what is installed, and runs the program beside that.
package image_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const root = "../.."

// instruction is a line of a Dockerfile; this one has no continued lines.
var instruction = regexp.MustCompile(`(?m)^([A-Z]+) (.*)$`)

// stages are those of the Dockerfile, each the instructions after its FROM.
func stages(t *testing.T) (all [][]string) {
	t.Helper()
	data, err := os.ReadFile(root + "/docs/ci/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range instruction.FindAllStringSubmatch(string(data), -1) {
		if m[1] == "FROM" {
			all = append(all, nil)
		}
		last := len(all) - 1
		all[last] = append(all[last], m[0])
	}
	if len(all) != 3 {
		t.Fatalf("%d stages", len(all))
	}
	return all
}

const copied = "COPY --from=build /meshgen /bin/meshgen"

// built makes the program at a path by the command of the first stage.
func built(t *testing.T, program string) {
	t.Helper()
	build := stages(t)[0]
	command, ok := strings.CutPrefix(build[len(build)-1], "RUN ")
	if !ok || !strings.Contains(command, "-o /meshgen") {
		t.Fatalf("the program is made by %s", command)
	}
	made := exec.Command("sh", "-ec", strings.Replace(command, "-o /meshgen", "-o '"+program+"'", 1))
	made.Dir = root
	if printed, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, printed)
	}
}

// The image for jobs has what they call: its base has a shell, and diff runs git.
func TestTheImageForJobsHasGit(t *testing.T) {
	want := []string{
		"FROM debian:13-slim AS ci",
		"RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git && rm -rf /var/lib/apt/lists/*",
		copied,
	}
	if got := stages(t)[1]; !slices.Equal(got, want) {
		t.Fatalf("the image is %q, want %q", got, want)
	}
	tools := t.TempDir()
	built(t, filepath.Join(tools, "meshgen"))
	diff := func() (string, error) {
		run := exec.Command(filepath.Join(tools, "meshgen"), "diff", "HEAD", "HEAD", "examples/clusters/boutique")
		run.Dir, run.Env = root, []string{"PATH=" + tools}
		printed, err := run.CombinedOutput()
		return string(printed), err
	}
	if printed, err := diff(); err == nil {
		t.Errorf("without git, diff says %q", printed)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(git, filepath.Join(tools, "git")); err != nil {
		t.Fatal(err)
	}
	if printed, err := diff(); err != nil || printed != "" {
		t.Errorf("with git alone, diff says %q, %v", printed, err)
	}
}

func TestTheImageHasNothingButTheProgram(t *testing.T) {
	want := []string{"FROM scratch", copied, "ENV PATH=/bin", "USER 65532:65532", `ENTRYPOINT ["/bin/meshgen"]`}
	if got := stages(t)[2]; !slices.Equal(got, want) {
		t.Fatalf("the image is %q, want %q", got, want)
	}
	image := t.TempDir()
	program := filepath.Join(image, "bin", "meshgen")
	built(t, program)
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
