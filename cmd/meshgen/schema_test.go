package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The README's command writes the file that its modeline names, and an editor
// that follows the modeline finds a schema there.
func TestREADMEModeline(t *testing.T) {
	t.Chdir("../..")
	text := readme(t)
	command := regexp.MustCompile(`(?m)^bin/meshgen (schema) > (\S+)$`).FindStringSubmatch(text)
	modeline := regexp.MustCompile(`(?m)^# yaml-language-server: \$schema=(\S+)\n(apiVersion: \S+)\n`).FindStringSubmatch(text)
	if command == nil || modeline == nil {
		t.Fatalf("README.md has the command %v and the modeline %v", command, modeline)
	}
	profile, err := os.ReadFile("examples/clusters/featureflag/profile.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(profile, []byte(modeline[2]+"\n")) {
		t.Errorf("a profile does not begin with %s", modeline[2])
	}
	t.Chdir(t.TempDir())
	var written, found bytes.Buffer
	if code := run(command[1:2], streams{nil, &written, &found}); code != 0 || found.Len() > 0 {
		t.Fatalf("exit status %d, %s", code, found.String())
	}
	put(t, command[2], written.Bytes())
	put(t, "profile.yaml", append([]byte("# yaml-language-server: $schema="+modeline[1]+"\n"), profile...))
	if code := run([]string{"plan", "profile.yaml"}, streams{nil, &written, &found}); code != 0 {
		t.Errorf("exit status %d beside a modeline: %s", code, found.String())
	}
	data, err := os.ReadFile(filepath.FromSlash(modeline[1]))
	if err != nil {
		t.Fatal(err)
	}
	var root struct {
		Schema   string   `json:"$schema"`
		Required []string `json:"required"`
	}
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"apiVersion", "kind", "metadata", "spec"}, root.Required); diff != "" {
		t.Errorf("%s requires (-want +got):\n%s", modeline[1], diff)
	}
}

func put(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
