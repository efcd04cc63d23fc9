package argocd

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The types below are as much of Argo CD's as is written, with its JSON names.
// Argo CD's own package brings Git, OCI and Kubernetes itself: 1,291 packages.

const apiVersion = "argoproj.io/v1alpha1"

type application struct {
	metav1.TypeMeta
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     applicationSpec   `json:"spec"`
}

type applicationSpec struct {
	Project           string       `json:"project"`
	Destination       destination  `json:"destination"`
	Source            *source      `json:"source,omitempty"`
	Sources           []source     `json:"sources,omitempty"`
	IgnoreDifferences []difference `json:"ignoreDifferences,omitempty"`
	SyncPolicy        syncPolicy   `json:"syncPolicy"`
}

type destination struct {
	Server    string `json:"server,omitempty"`
	Name      string `json:"name,omitempty"`
	Namespace string `json:"namespace"`
}

// source is a chart of a Helm repository, or a folder of a Git repository.
type source struct {
	RepoURL        string     `json:"repoURL"`
	Chart          string     `json:"chart,omitempty"`
	TargetRevision string     `json:"targetRevision"`
	Path           string     `json:"path,omitempty"`
	Ref            string     `json:"ref,omitempty"`
	Helm           *helm      `json:"helm,omitempty"`
	Kustomize      *kustomize `json:"kustomize,omitempty"`
}

type helm struct {
	ReleaseName string   `json:"releaseName"`
	ValueFiles  []string `json:"valueFiles"`
}

type kustomize struct {
	Components []string `json:"components"`
}

type difference struct {
	Group             string   `json:"group"`
	Kind              string   `json:"kind"`
	Name              string   `json:"name,omitempty"`
	Namespace         string   `json:"namespace,omitempty"`
	JSONPointers      []string `json:"jsonPointers,omitempty"`
	JQPathExpressions []string `json:"jqPathExpressions,omitempty"`
}

type syncPolicy struct {
	Automated   *automated `json:"automated,omitempty"`
	SyncOptions []string   `json:"syncOptions"`
}

type automated struct {
	Prune    bool `json:"prune"`
	SelfHeal bool `json:"selfHeal"`
}

type appProject struct {
	metav1.TypeMeta
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     projectSpec       `json:"spec"`
}

type projectSpec struct {
	Description              string        `json:"description"`
	SourceRepos              []string      `json:"sourceRepos"`
	Destinations             []destination `json:"destinations"`
	ClusterResourceWhitelist []groupKind   `json:"clusterResourceWhitelist"`
	SyncWindows              []syncWindow  `json:"syncWindows,omitempty"`
}

type groupKind struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
}

type syncWindow struct {
	Kind         string   `json:"kind"`
	Schedule     string   `json:"schedule"`
	Duration     string   `json:"duration"`
	TimeZone     string   `json:"timeZone"`
	Applications []string `json:"applications"`
	ManualSync   bool     `json:"manualSync"`
	SyncOverrun  bool     `json:"syncOverrun,omitempty"`
	Description  string   `json:"description"`
}
