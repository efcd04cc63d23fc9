package cluster

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Claim is a line of PLAN.md's table of Sidecar scopes, with the hosts of those
// that are reported and not written.
type Claim struct {
	Scope, Rollout                  string
	Proxies, Hosts, Seen, InsteadOf int
	Reported                        []string
}

var (
	claimed  = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (report|canary|live) \\| (\\d+) \\| (\\d+) \\| (\\d+) \\| (\\d+) \\|$")
	reported = regexp.MustCompile("(?m)^`([^`]+)` is reported and not written; it would see (.+)\\.$")
)

// Claims are what PLAN.md says of the scopes, by namespace or namespace/workload.
func Claims(t testing.TB, folder string) map[string]Claim {
	t.Helper()
	text := Files(t, folder, "PLAN.md")[0].Text
	_, section, _ := strings.Cut(text, "\n## Sidecar scopes\n")
	section, _, _ = strings.Cut(section, "\n## ")
	all := map[string]Claim{}
	for _, line := range claimed.FindAllStringSubmatch(section, -1) {
		c := Claim{Scope: line[1], Rollout: line[2]}
		for i, number := range []*int{&c.Proxies, &c.Hosts, &c.Seen, &c.InsteadOf} {
			*number = atoi(t, line[3+i])
		}
		all[c.Scope] = c
	}
	for _, line := range reported.FindAllStringSubmatch(section, -1) {
		c := all[line[1]]
		c.Reported = strings.Split(strings.Trim(line[2], "`"), "`, `")
		all[line[1]] = c
	}
	return all
}

func atoi(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
