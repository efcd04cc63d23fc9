package apiserver_test

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"
	"text/template"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// hostile is a base with a value of its own in each field that meshgen may own:
// spread constraints on both policies and on keys that it does not use, both
// annotations beside trafficDistribution, a second container, an HPA.
const hostile = `
{{- define "workload" -}}
apiVersion: apps/v1
kind: {{.Kind}}
metadata:
  name: {{.Name}}
  labels: {{json .Labels}}
  annotations: {example.com/team: own}
spec:
{{- if .Replicas}}
  replicas: {{.Replicas}}
{{- end}}
{{- if eq .Kind "StatefulSet"}}
  serviceName: {{.Name}}
{{- end}}
  selector: {matchLabels: {{json .Labels}}}
  template:
    metadata: {labels: {{json .Labels}}}
    spec:
      topologySpreadConstraints:
        - {topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, maxSkew: 2, minDomains: 4, labelSelector: {matchLabels: {{json .Labels}}}}
{{- if .Twice}}
        - {topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway, maxSkew: 5, labelSelector: {matchLabels: {other: "yes"}}}
{{- end}}
        - {topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, maxSkew: 1, labelSelector: {matchLabels: {{json .Labels}}}}
        - {topologyKey: example.com/rack, whenUnsatisfiable: ScheduleAnyway, maxSkew: 1, labelSelector: {matchLabels: {{json .Labels}}}}
      containers:
        - name: {{.Container}}
          image: registry.example.com/{{.Name}}:1
          ports: [{name: http, containerPort: 8080}]
          resources: {requests: {cpu: 100m, memory: 64Mi}}
        - name: log-shipper
          image: registry.example.com/log-shipper:1
          resources: {requests: {cpu: 10m, memory: 16Mi}}
{{end}}

{{- define "service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{.Name}}
  annotations:
    service.kubernetes.io/topology-mode: Auto
    service.kubernetes.io/topology-aware-hints: Auto
    example.com/team: own
spec:
  selector: {{json .Labels}}
  trafficDistribution: PreferSameNode
  ports: [{name: http, port: 8080, targetPort: http}]
{{end}}

{{- define "hpa" -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{.HPA}}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: {{.Kind}}, name: {{.Name}}}
  minReplicas: 2
  maxReplicas: 9
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
{{end}}`

// part is what a document of a base is made from.
type part struct {
	Kind, Name, Container, HPA string
	Labels                     map[string]string
	Replicas                   int
	Twice                      bool // zones are spread twice, hard and soft
}

// bases are the manifests that a profile speaks of, by namespace: a workload
// without replicas where meshgen scales it, a Service, and the HPA that runs.
// They are in the files of nobody's namespace: a kustomization sets it.
func bases(t testing.TB, p cluster.Profile, twice bool) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	seen := map[string]bool{}
	for _, s := range p.Services {
		at, w := s.Namespace, workloadOf(s)
		w.Twice = twice
		if !seen[at+w.Kind+w.Name] {
			seen[at+w.Kind+w.Name] = true
			all[at] = append(all[at], document(t, "workload", w))
		}
		if w.HPA != "" {
			all[at] = append(all[at], document(t, "hpa", w))
		}
		if s.Serves() {
			w.Name = s.Name
			all[at] = append(all[at], document(t, "service", w))
		}
	}
	return all
}

func workloadOf(s cluster.Service) part {
	w := cluster.Workload{}
	if s.Workload != nil {
		w = *s.Workload
	}
	p := part{
		Kind: cmp.Or(w.Kind, "Deployment"), Name: cmp.Or(w.Name, s.Name), Container: cmp.Or(w.Container, "app"),
		HPA: s.Autoscaling.Running.HPA, Labels: w.Labels, Replicas: s.Replicas.Min,
	}
	if len(p.Labels) == 0 {
		p.Labels = map[string]string{"app": p.Name}
	}
	if s.Autoscaling.ManagedBy == "meshgen" {
		p.Replicas = 0
	}
	return p
}

func document(t testing.TB, name string, p part) string {
	t.Helper()
	asJSON := func(v any) (string, error) { text, err := json.Marshal(v); return string(text), err }
	parsed, err := template.New("").Funcs(template.FuncMap{"json": asJSON}).Parse(hostile)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := parsed.ExecuteTemplate(&text, name, p); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
