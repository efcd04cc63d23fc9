package schema_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/meshgen/meshgen/schema"
)

func exported(t *testing.T) []byte {
	t.Helper()
	data, err := schema.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestJSONSchemaIsWhatReviewersSaw(t *testing.T) {
	const file = "testdata/profile.schema.json"
	got := exported(t)
	for range 3 {
		if !bytes.Equal(got, exported(t)) {
			t.Fatal("the bytes differ from one call to the next")
		}
	}
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-%s +exported):\n%s", file, diff)
	}
}

// verdict is what the JSON Schema says of a profile.
type verdict string

const (
	accepted verdict = "accepted"
	refused  verdict = "refused"
	unread   verdict = "unread" // reading alone refuses it
)

func judge(t *testing.T, s *jsonschema.Schema, fsys fs.FS, file string) (verdict, error) {
	t.Helper()
	data, ok := schema.ReadJSON(fsys, file)
	if !ok {
		return unread, nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(value); err != nil {
		return refused, err
	}
	return accepted, nil
}

func TestJSONSchemaAcceptsTheExamples(t *testing.T) {
	s := schema.CompileJSONSchema(t, exported(t))
	root := os.DirFS("../examples")
	var files []string
	for _, pattern := range []string{"clusters/*/profile.yaml", "fleet/*/profile.cue"} {
		some, err := fs.Glob(root, pattern)
		if err != nil || len(some) < 3 {
			t.Fatalf("%s: %v, %v", pattern, some, err)
		}
		files = append(files, some...)
	}
	for _, file := range files {
		folder, name := ".", file
		if below, ok := strings.CutPrefix(file, "fleet/"); ok {
			folder, name = "fleet", below // a module's root
		}
		fsys, err := fs.Sub(root, folder)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := judge(t, s, fsys, name); v != accepted {
			t.Errorf("%s is %s: %v", file, v, err)
		}
	}
}

// Why a schema cannot refuse what it accepts.
const (
	fields  = "the rule is about two fields, and stands in checks.go"
	sums    = "a schema does not add"
	names   = "a schema does not compare the items of a list by a name"
	lookups = "a schema does not look a name up elsewhere"
	keys    = "JSON has no duplicate keys left when a schema sees it; editors know them from YAML"
	days    = "a pattern knows no calendar"
	pairs   = "a pattern does not count brackets"
)

// mistakes are the invalid profiles of tests that the schema accepts, and why.
var mistakes = map[string]string{
	"argocd_namespace_alone": fields, "bounds_swapped": fields, "canary_unnamed": fields, "tolerations": fields,
	"event_ends_first": fields, "event_half_dated": fields, "event_ramp_too_long": fields, "event_too_long": fields,
	"event_twice_loaded": fields, "event_twice_timed": fields, "event_unloaded": fields, "event_untimed": fields, "weekly_equal": fields,
	"push_model": fields, "push_model_without_kind": fields, "weighted": fields,
	"clients_sum": sums, "endpoints_outside_replicas": sums,
	"duplicate_event": names, "duplicate_gateway": names, "duplicate_namespace": names, "duplicate_node_pool": names,
	"duplicate_service": names, "duplicate_zone": names, "weekly_day_twice": names,
	"unknown_event": lookups, "unknown_namespace": lookups, "unknown_node_pool": lookups, "unknown_service": lookups, "unknown_zone": lookups,
	"duplicate_field_of_equal_values": keys, "duplicate_field_of_two_values": keys,
	"date": days, "query": pairs,

	"fields-that-contradict-each-other-are-both-named profile.yaml": fields,
	"names-are-held-against-the-profile profile.yaml":               lookups,
}

func TestJSONSchemaRefusesMostMistakes(t *testing.T) {
	s := schema.CompileJSONSchema(t, exported(t))
	got := map[verdict][]string{}
	var loader schema.Loader
	for name, p := range testProfiles(t) {
		v, err := judge(t, s, p.fsys, p.file)
		loaded, _ := loader.Load(p.fsys, p.file)
		switch {
		case loaded == nil:
			got[v] = append(got[v], name)
		case v != accepted:
			t.Errorf("%s is valid, and %s: %v", name, v, err)
		}
	}
	slices.Sort(got[accepted])
	if diff := cmp.Diff(slices.Sorted(maps.Keys(mistakes)), got[accepted]); diff != "" {
		t.Errorf("accepted mistakes (-listed +found):\n%s", diff)
	}
	if stopped := len(got[refused]) + len(got[unread]); stopped < len(got[accepted]) {
		t.Errorf("%d mistakes are accepted, and %d refused", len(got[accepted]), stopped)
	}
	for _, v := range []verdict{refused, unread, accepted} {
		slices.Sort(got[v])
		t.Logf("%d %s: %s", len(got[v]), v, strings.Join(got[v], ", "))
	}
}

type testProfile struct {
	fsys fs.FS
	file string
}

// testProfiles are those of testdata and of the commands' scripts, by name.
func testProfiles(t *testing.T) map[string]testProfile {
	t.Helper()
	all := map[string]testProfile{}
	for _, pattern := range []string{"testdata/*.txtar", "../cmd/meshgen/testdata/script/*.txtar"} {
		archives, err := filepath.Glob(pattern)
		if err != nil || len(archives) == 0 {
			t.Fatalf("%s: %d archives, %v", pattern, len(archives), err)
		}
		for _, file := range archives {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := strings.TrimSuffix(filepath.Base(file), ".txtar")
			if path.Dir(pattern) == "testdata" {
				fsys, profile, _ := unpack(t, archive)
				all[name] = testProfile{fsys, profile}
				continue
			}
			for _, f := range archive.Files {
				if path.Ext(f.Name) == ".yaml" && bytes.Contains(f.Data, []byte("kind: ClusterProfile\n")) {
					all[name+" "+f.Name] = testProfile{fstest.MapFS{f.Name: {Data: f.Data}}, f.Name}
				}
			}
		}
	}
	return all
}
