package main

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/schema"
)

// member is a profile of a fleet, with the cluster's name read ahead of its
// line; the name is empty where it cannot be read.
type member struct {
	path, cluster string
	pos           diag.Pos // of the name
}

// membersOf are the profiles with their names, in the order of their paths. The
// name of one alone is read only where it is needed: that takes a fifth of the
// time of loading it.
func membersOf(cue *schema.Evaluator, paths []string, needed bool) []member {
	if len(paths) == 1 && !needed {
		return []member{{path: paths[0]}}
	}
	all := make([]member, len(paths))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for i, path := range paths {
		slots <- struct{}{}
		group.Go(func() {
			all[i] = memberOf(cue, path)
			<-slots
		})
	}
	group.Wait()
	return all
}

func memberOf(cue *schema.Evaluator, path string) member { return memberIn(cue, onDisk(path)) }

// memberIn is memberOf for a profile wherever from.
func memberIn(cue *schema.Evaluator, in input) member {
	name, pos, ok := (&schema.Loader{Evaluator: cue}).Name(in.fsys, in.name)
	if !ok {
		return member{path: in.path} // what is wrong with it, its own line will say
	}
	pos.File = in.prefix + pos.File
	return member{in.path, name, pos}
}

// sameNames finds profiles of one name. It is asked ahead of the lines, so that
// of two such profiles neither is written.
func sameNames(members []member) diag.List {
	first := map[string]diag.Pos{}
	var found diag.List
	for _, m := range members {
		if m.cluster == "" {
			continue
		}
		had, taken := first[m.cluster]
		if !taken {
			first[m.cluster] = m.pos
			continue
		}
		found = append(found, diag.Finding{
			Severity: diag.Error, ID: "schema/duplicate-cluster", Pos: m.pos, Subject: "metadata.name",
			Message: fmt.Sprintf("cluster %s is described here and at %s", m.cluster, had),
			Hint:    "give each profile a name of its own: the name is the cluster's output folder",
		})
	}
	return found
}

// apart are the members whose name no other has, and those whose name is not known.
func apart(members []member) []member {
	count := map[string]int{}
	for _, m := range members {
		count[m.cluster]++
	}
	return slices.DeleteFunc(slices.Clone(members), func(m member) bool { return m.cluster != "" && count[m.cluster] > 1 })
}

// foldersOf are the folders that the members are read from.
func foldersOf(members []member) []string {
	var folders []string
	for _, m := range members {
		folders = append(folders, folderOf(m.path))
	}
	return folders
}

// clustersOf are the names of the members; sure is false when one is not known, or is
// that of two, of which one may be meant to have another.
func clustersOf(members []member) (clusters []string, sure bool) {
	for _, m := range members {
		clusters = append(clusters, m.cluster)
	}
	return clusters, !slices.Contains(clusters, "") && len(apart(members)) == len(members)
}
