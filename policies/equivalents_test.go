package policies

import (
	"regexp"
	"strings"
)

// equivalence is a group of mutants that change nothing that a policy could mind.
type equivalence struct {
	paths     string // a pattern that the mutants' own must match as a whole
	mutations string // so too
	unless    string // a word of the values that the policies do mind; empty for none
	reason    string
}

// equivalents are all of them. The plan is what objects are held against: where
// it asks for less, more than it asks for is there, and that is no fault.
func equivalents() []equivalence {
	const less = "the plan asks for less, and what it does not ask for is not denied"
	const pod = `Deployment spec\.template\.spec\.`
	const scaleDown = `ScaledObject spec\.advanced\.horizontalPodAutoscalerConfig\.behavior\.scaleDown\.`
	return []equivalence{
		{`(PodDisruptionBudget|ScaledObject|Service) metadata\.name`, `changed`, "", "it is found by what it selects or scales"},
		{pod + `containers\.\*\.args\.\*`, `deleted|changed`, "keepalive", "another argument"},
		{pod + `containers\.\*\.env\.\*(\.name)?`, `deleted|changed|emptied`, "DEBOUNCE", "another variable"},
		{pod + `containers\.\*(\.name)?`, `deleted|changed|emptied`, "discovery", "a container that no trigger names"},
		{`Deployment spec\.strategy\.rollingUpdate\.maxSurge`, `-1`, "", "the rollout takes longer"},
		{pod + `tolerations\.\*`, `deleted`, "", "without it istiod may use fewer nodes"},
		{pod + `topologySpreadConstraints\.\*\.labelSelector\.matchLabels\..*`, `deleted`, "", "the label that is left singles istiod out as well"},
		{scaleDown + `policies\.\*\.periodSeconds`, `\+1`, "", "scales in more slowly"},
		{scaleDown + `policies\.\*\.value`, `-1`, "", "scales in more slowly"},
		{scaleDown + `stabilizationWindowSeconds`, `\+1`, "", "scales in later"},
		{`ScaledObject metadata\.annotations(\.argocd\..*)?`, `deleted|changed|emptied|[+-]1`, "", "KEDA reads none of them, nor is it a commit or a time"},
		{`ScaledObject metadata\.labels(\..*)?`, `deleted|changed|emptied`, "", "KEDA reads none of them, nor is it a commit or a time"},
		{`ScaledObject spec\.fallback\.failureThreshold`, `[+-]1`, "", "the fallback comes one poll sooner or later"},
		{`ScaledObject spec\.scaleTargetRef\.kind`, `deleted`, "StatefulSet", "KEDA's default is a Deployment"},
		{`ScaledObject spec\.triggers\.\*\.metricType`, `deleted`, "Utilization", "KEDA's default is AverageValue"},
		{`ScaledObject spec\.triggers\.\*(\.type)?`, `deleted|changed|emptied`, "event_", "a trigger of the user's own"},
		{`Service spec\.internalTrafficPolicy`, `deleted|changed`, "", "no zone is preferred beside it"},
		{`Service spec\.selector`, `deleted|emptied`, "istiod", "a Service of pods that are never scaled to nothing"},
		{`Service spec\.selector\.(app|istio)`, `deleted`, "", "the label that is left singles istiod out as well"},
		{`(Sidecar (apiVersion|metadata\.labels(\..*)?)|objects\.\*\.file)`, `deleted|changed|emptied`, "", "one Sidecar is told from another by all that it has"},
		{`plan\.istiod\.dedicatedPools\.\*(\.labels(\..*)?)?`, `deleted|emptied`, "", less},
		{`plan\.(routes|scopes|workloads)\.\*`, `deleted`, "", less},
		{`plan\.workloads\.\*\.scaling\.\*(\.triggers\.\*)?`, `deleted`, "", less},
		{`plan\.(istiod\.hardZoneSpread|workloads\.\*\.(ownsSpread|scaling\.\*\.extends))`, `flipped`, "", less},
		{`plan\.workloads\.\*\.scaling\.\*\.(cpu|memory)Utilization`, `\+1`, "", "the targets of a ScaledObject of the user's own are theirs"},
	}
}

func equivalentOf(m *mutant) (equivalence, bool) {
	whole := func(pattern, text string) bool { return regexp.MustCompile("^(" + pattern + ")$").MatchString(text) }
	for _, e := range equivalents() {
		if whole(e.paths, m.pattern) && whole(e.mutations, m.mutation) && (e.unless == "" || !strings.Contains(m.value, e.unless)) {
			return e, true
		}
	}
	return equivalence{}, false
}
