package output

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/artifact"
)

var seed = flag.Uint64("seed", 0, "of the moments at which runs are killed; 0 for one of the clock")

// writer is set in a process that writes until it is killed, to its way to swap.
const writer = "MESHGEN_TEST_WRITER"

// stateOf is a cluster's files in the old state or the new one: files change, come
// and go.
func stateOf(cluster string, state int) []artifact.File {
	names := []string{"PLAN.md", "istiod/values.yaml", fmt.Sprintf("workloads/shop/only-%d.yaml", state)}
	var all []artifact.File
	for _, name := range names {
		all = append(all, artifact.File{Path: cluster + "/" + name, Data: []byte(strings.Repeat(fmt.Sprintln(name, state), 200))})
	}
	lock := fmt.Sprintf(`{"files": ["%s"]}`, strings.Join(append(names, lockFile), `", "`))
	return append(all, artifact.File{Path: cluster + "/" + lockFile, Data: []byte(lock)})
}

const clusters = 20

func clusterName(i int) string { return fmt.Sprintf("cluster-%02d", i) }

// writeForEver takes every cluster from state to state, and never ends.
func writeForEver(t *testing.T, exchange func(one, other string) error) {
	fmt.Println("begun")
	for state := 1; ; state = 1 - state {
		for i := range clusters {
			s := swap{".", clusterName(i), exchange, new(flusher).flush, func(string) {}}
			if _, err := s.write(stateOf(s.cluster, state)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A process that writes is killed 200 times at random moments. Each folder is then
// the old or the new as a whole, with what a person put there, or away between two
// renames; and the next run leaves a whole one and nothing beside it.
func TestARunThatIsKilledLeavesTheOldFolderOrTheNew(t *testing.T) {
	ways := map[string]func(one, other string) error{"in one step": exchange, "in two renames": inTwo}
	if way, ok := ways[os.Getenv(writer)]; ok {
		writeForEver(t, way)
	}
	drawn := *seed
	if drawn == 0 {
		drawn = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d draws these moments again", drawn)
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			k := killing{t.TempDir(), name, rand.New(rand.NewPCG(drawn, 0)), map[string]int{}}
			for i := range clusters {
				s := swap{k.root, clusterName(i), way, new(flusher).flush, func(string) {}}
				if _, err := s.write(stateOf(s.cluster, 0)); err != nil {
					t.Fatal(err)
				}
				place(t, filepath.Join(s.folder(), "notes.txt"), s.cluster)
			}
			for i := range 100 {
				k.kill(t)
				for c := range clusters {
					k.judge(t, swap{k.root, clusterName(c), way, new(flusher).flush, func(string) {}}, i%2)
				}
			}
			t.Logf("what kills left beside folders: %v", k.left)
			if len(k.left) == 0 {
				t.Error("no kill was within a write")
			}
		})
	}
}

type killing struct {
	root, way string
	random    *rand.Rand
	left      map[string]int // how often each of besides was, and the folder away
}

// kill ends a process at a random moment of its writing.
func (k killing) kill(t *testing.T) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestARunThatIsKilledLeavesTheOldFolderOrTheNew$")
	cmd.Dir, cmd.Env = k.root, append(os.Environ(), writer+"="+k.way)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "begun\n" {
		t.Fatalf("the process did not begin: %q, %v", line, err)
	}
	time.Sleep(time.Duration(k.random.Int64N(int64(60 * time.Millisecond))))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("the process ended by itself: %v", err)
	}
}

// judge holds a folder against both states, and repairs it by the next run where
// something was left beside it.
func (k killing) judge(t *testing.T, s swap, state int) {
	t.Helper()
	var left []string
	for _, what := range besides() {
		if exists(s.beside(what)) {
			left = append(left, what)
			k.left[what]++
		}
	}
	if !exists(s.folder()) && len(left) == len(besides()) {
		k.left["away"]++
	} else if got := tree(t, s.folder()); !cmp.Equal(got, whole(s.cluster, 0)) && !cmp.Equal(got, whole(s.cluster, 1)) {
		t.Errorf("%s, %v beside it, is neither old nor new:\n%s", s.cluster, left, cmp.Diff(whole(s.cluster, 0), got))
	}
	if len(left) == 0 {
		return
	}
	if _, err := s.write(stateOf(s.cluster, state)); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(whole(s.cluster, state), tree(t, s.folder())); diff != "" {
		t.Errorf("%s after the next run (-want +got):\n%s", s.cluster, diff)
	}
	for _, what := range besides() {
		if exists(s.beside(what)) {
			t.Errorf("the next run left %s", s.beside(what))
		}
	}
}

// whole is a cluster's folder in a state, with what a person put there.
func whole(cluster string, state int) map[string]string {
	all := map[string]string{"notes.txt": cluster}
	for _, f := range stateOf(cluster, state) {
		all[strings.TrimPrefix(f.Path, cluster+"/")] = string(f.Data)
	}
	return all
}
