package main

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	kills = flag.Int("kills", 3, "how many renders are killed, for each way to swap folders")
	seed  = flag.Uint64("seed", 0, "of the moments at which renders are killed; 0 for one of the clock")
)

// byAPerson is a file that meshgen does not own, in every cluster's folder.
const byAPerson = "notes.txt"

// state is a set of profiles and what they are rendered to.
type state struct {
	profiles string                       // folder
	clusters map[string]map[string]string // content by name within the cluster's folder
	took     time.Duration                // to render all of it
}

// states are copies of bigsale by other names, and the same changed so that files
// of every cluster change, come and go.
func states(t *testing.T, clusters int) [2]state {
	t.Helper()
	data, err := os.ReadFile(bigsale)
	if err != nil {
		t.Fatal(err)
	}
	before := string(data)
	after := strings.NewReplacer("connections: 1000", "connections: 1100", ", running: {hpa: checkout}", "").Replace(before)
	var all [2]state
	for i, text := range []string{before, after} {
		s := state{profiles: t.TempDir(), clusters: map[string]map[string]string{}}
		for n := range clusters {
			name := fmt.Sprintf("cluster-%02d", n)
			at := filepath.Join(s.profiles, name, "profile.yaml")
			place(t, at, strings.Replace(text, "name: bigsale", "name: "+name, 1))
		}
		root, begun := t.TempDir(), time.Now()
		finish(t, command("meshgen", root, s.profiles))
		s.took = time.Since(begun)
		for _, name := range below(t, root) {
			s.clusters[name] = tree(t, filepath.Join(root, name))
		}
		all[i] = s
	}
	for name, files := range all[0].clusters {
		if len(all[1].clusters[name]) == len(files) || cmp.Equal(files["PLAN.md"], all[1].clusters[name]["PLAN.md"]) {
			t.Fatalf("the two states of %s are not told apart", name)
		}
	}
	return all
}

// command is a render that can be started, by the name of the program.
func command(program, root string, profiles ...string) *exec.Cmd {
	return exec.Command(program, append([]string{"render", "-o", root}, profiles...)...)
}

func finish(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args[1:], err, out)
	}
}

func place(t *testing.T, at, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

// below are the names in a folder, sorted.
func below(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// tree is every file of a folder with its content; nil where the folder is not.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	var files map[string]string
	err := filepath.WalkDir(folder, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(at)
		if files == nil {
			files = map[string]string{}
		}
		files[strings.TrimPrefix(at, folder+"/")] = string(data)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return files
}

// A render is killed at random moments, again and again over what the one before
// left. Each cluster's folder is then the old or the new as a whole, with what a
// person put there, or away under the marker between two renames; and the next run
// for a cluster that was hit leaves the new one, and nothing beside it.
func TestARenderThatIsKilledLeavesTheOldFolderOrTheNew(t *testing.T) {
	drawn := *seed
	if drawn == 0 {
		drawn = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d draws these moments again", drawn)
	both := states(t, 20)
	for _, program := range []string{"meshgen", "meshgen-without-exchange"} {
		t.Run(program, func(t *testing.T) {
			k := killer{program: program, root: t.TempDir(), states: both, random: rand.New(rand.NewPCG(drawn, 0))}
			finish(t, command(program, k.root, both[0].profiles))
			for name := range both[0].clusters {
				place(t, filepath.Join(k.root, name, byAPerson), name)
			}
			for i := range *kills {
				k.kill(t, both[1-i%2])
			}
			last := both[1-*kills%2]
			finish(t, command(program, k.root, last.profiles))
			k.expect(t, last, slices.Sorted(maps.Keys(last.clusters)))
			t.Logf("%d kills: %d within the write of a cluster, %d of these with its folder away", *kills, k.within, k.away)
		})
	}
}

type killer struct {
	program, root string
	states        [2]state
	random        *rand.Rand
	within, away  int
}

// kill stops one render to a state, judges what is left, and repairs it. A render
// that ends before its moment is done again.
func (k *killer) kill(t *testing.T, to state) {
	t.Helper()
	for killed := false; !killed; {
		cmd := command(k.program, k.root, to.profiles)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(k.random.Int64N(int64(to.took))))
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		killed = cmd.Wait() != nil && !cmd.ProcessState.Exited()
	}
	hit := k.judge(t)
	if len(hit) == 0 {
		return
	}
	var profiles []string
	for _, name := range hit {
		profiles = append(profiles, filepath.Join(to.profiles, name, "profile.yaml"))
	}
	finish(t, command(k.program, k.root, profiles...))
	k.expect(t, to, hit)
}

// judge holds every folder against both states, and names those that have
// something beside them.
func (k *killer) judge(t *testing.T) (hit []string) {
	t.Helper()
	beside := map[string]bool{}
	for _, name := range below(t, k.root) {
		if cluster, what, ok := strings.Cut(strings.TrimPrefix(name, "."), ".meshgen-"); ok {
			beside[name] = true
			hit = append(hit, cluster)
			t.Logf("%s has %s beside it", cluster, what)
		}
	}
	for name := range k.states[0].clusters {
		got := tree(t, filepath.Join(k.root, name))
		if got == nil && beside["."+name+".meshgen-swap"] && beside["."+name+".meshgen-old"] && beside["."+name+".meshgen-staged"] {
			k.away++
			continue
		}
		if !cmp.Equal(got, k.whole(0, name)) && !cmp.Equal(got, k.whole(1, name)) {
			t.Errorf("%s is neither old nor new: (-old +got)\n%s(-new +got)\n%s", name, cmp.Diff(k.whole(0, name), got), cmp.Diff(k.whole(1, name), got))
		}
	}
	hit = slices.Compact(hit)
	k.within += len(hit)
	return hit
}

// whole is a cluster's folder in a state, with what a person put there.
func (k *killer) whole(i int, cluster string) map[string]string {
	files := maps.Clone(k.states[i].clusters[cluster])
	files[byAPerson] = cluster
	return files
}

// expect sees the clusters in that state, and no names but those of clusters.
func (k *killer) expect(t *testing.T, want state, clusters []string) {
	t.Helper()
	i := slices.IndexFunc(k.states[:], func(s state) bool { return s.profiles == want.profiles })
	for _, name := range clusters {
		if diff := cmp.Diff(k.whole(i, name), tree(t, filepath.Join(k.root, name))); diff != "" {
			t.Errorf("%s after the next run (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want.clusters)), below(t, k.root)); diff != "" {
		t.Errorf("beside the clusters' folders (-want +got):\n%s", diff)
	}
}

// Two runs write the same clusters at once: each folder is one's or the other's.
func TestTwoRendersAtOnce(t *testing.T) {
	both := states(t, 4)
	k := killer{root: t.TempDir(), states: both}
	for name := range both[0].clusters {
		place(t, filepath.Join(k.root, name, byAPerson), name)
	}
	for range 3 {
		var runs []*exec.Cmd
		for _, s := range both {
			cmd := command("meshgen", k.root, s.profiles)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			runs = append(runs, cmd)
		}
		for _, cmd := range runs {
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		}
		if hit := k.judge(t); len(hit) > 0 {
			t.Errorf("left beside: %v", hit)
		}
	}
}
