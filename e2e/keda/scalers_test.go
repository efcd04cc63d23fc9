package keda_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kedav1alpha1 "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	"github.com/kedacore/keda/v2/pkg/scalers"
	"github.com/kedacore/keda/v2/pkg/scalers/scalersconfig"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
)

// newScaler makes a scaler by KEDA's own constructor, as KEDA's operator does for
// a trigger of a ScaledObject. None of these asks the network for anything. A
// parameter that the scaler does not know is no error for KEDA, but an event;
// here it is an error.
func newScaler(of kedav1alpha1.ScaleTriggers, index int) (scalers.Scaler, error) {
	recorder := events.NewFakeRecorder(len(of.Metadata) + 1)
	config := &scalersconfig.ScalerConfig{
		ScalableObjectType: "ScaledObject",
		TriggerName:        of.Name,
		TriggerType:        of.Type,
		TriggerMetadata:    of.Metadata,
		TriggerIndex:       index,
		MetricType:         of.MetricType,
		ScaledObject:       &kedav1alpha1.ScaledObject{},
		Recorder:           recorder,
	}
	scaler, err := construct(config)
	if err != nil {
		return nil, err
	}
	select {
	case event := <-recorder.Events:
		return nil, fmt.Errorf("event %s", event)
	default:
		return scaler, nil
	}
}

func construct(config *scalersconfig.ScalerConfig) (scalers.Scaler, error) {
	switch config.TriggerType {
	case "cpu", "memory":
		return scalers.NewCPUMemoryScaler(corev1.ResourceName(config.TriggerType), config)
	case "cron":
		return scalers.NewCronScaler(config)
	case "prometheus":
		return scalers.NewPrometheusScaler(config)
	}
	return nil, fmt.Errorf("meshgen writes no trigger of type %q", config.TriggerType)
}

// KEDA makes a scaler of every trigger, knows each of its parameters, and gives
// the HPA the metric and the target that the trigger means.
func TestEveryTriggerIsAScaler(t *testing.T) {
	triggers := map[string]int{}
	for _, m := range meshes(t) {
		for _, object := range m.objects {
			for i, trigger := range object.Spec.Triggers {
				triggers[m.name+" "+trigger.Type]++
				scaler, err := newScaler(trigger, i)
				if err != nil {
					t.Errorf("%s: trigger %s: %v", object.path, trigger.Name, err)
					continue
				}
				specs := scaler.GetMetricSpecForScaling(context.Background())
				if diff := cmp.Diff([]string{meant(trigger, i)}, metrics(specs)); diff != "" {
					t.Errorf("%s: trigger %s: metrics of the HPA (-meant +made):\n%s", object.path, trigger.Name, diff)
				}
			}
		}
	}
	want := map[string]int{
		"bigsale cpu": 3, "bigsale cron": 1, "bigsale prometheus": 5,
		"boutique prometheus": 1, "featureflag prometheus": 1,
		"thousand cpu": 308, "thousand cron": 73, "thousand prometheus": 208,
		"worldwide cpu": 3, "worldwide memory": 1, "worldwide cron": 6, "worldwide prometheus": 6,
	}
	if diff := cmp.Diff(want, triggers); diff != "" {
		t.Errorf("triggers judged (-want +got):\n%s", diff)
	}
}

// meant is the metric that a trigger stands for: a share of what is requested, or
// a number whose average over the pods is held at the threshold, at one for a
// number of pods.
func meant(of kedav1alpha1.ScaleTriggers, index int) string {
	switch of.Type {
	case "cpu", "memory":
		return strings.TrimSpace(fmt.Sprintf("%s Utilization %s%% %s", of.Type, of.Metadata["value"], of.Metadata["containerName"]))
	case "cron":
		return fmt.Sprintf("s%d-cron AverageValue 1", index)
	default:
		return fmt.Sprintf("s%d-%s AverageValue %s", index, of.Type, of.Metadata["threshold"])
	}
}

func metrics(specs []autoscalingv2.MetricSpec) []string {
	var all []string
	for _, spec := range specs {
		switch {
		case spec.Resource != nil:
			all = append(all, fmt.Sprintf("%s %s %d%%", spec.Resource.Name, spec.Resource.Target.Type, *spec.Resource.Target.AverageUtilization))
		case spec.ContainerResource != nil:
			r := spec.ContainerResource
			all = append(all, fmt.Sprintf("%s %s %d%% %s", r.Name, r.Target.Type, *r.Target.AverageUtilization, r.Container))
		case spec.External != nil:
			// The name goes on with the schedule of a cron trigger.
			index, rest, _ := strings.Cut(spec.External.Metric.Name, "-")
			kind, _, _ := strings.Cut(rest, "-")
			all = append(all, fmt.Sprintf("%s-%s %s %s", index, kind, spec.External.Target.Type, spec.External.Target.AverageValue))
		}
	}
	return all
}

// Damage to a trigger is seen.
func TestDamagedTriggersAreRefused(t *testing.T) {
	prometheus := kedav1alpha1.ScaleTriggers{Type: "prometheus", MetricType: autoscalingv2.AverageValueMetricType, Metadata: map[string]string{
		"serverAddress": "http://prometheus:9090", "query": "vector(1)", "threshold": "1", "ignoreNullValues": "false",
	}}
	cron := kedav1alpha1.ScaleTriggers{Type: "cron", MetricType: autoscalingv2.AverageValueMetricType, Metadata: map[string]string{
		"timezone": "UTC", "start": "0 8 * * 1-5", "end": "0 9 * * 1-5", "desiredReplicas": "4",
	}}
	cpu := kedav1alpha1.ScaleTriggers{Type: "cpu", MetricType: autoscalingv2.UtilizationMetricType, Metadata: map[string]string{"value": "60"}}
	for name, c := range map[string]struct {
		sound      kedav1alpha1.ScaleTriggers
		key, value string // an empty value takes the key away
		want       string
	}{
		"a key that no scaler has":        {prometheus, "ignoreNulValues", "true", "Unmatched input property ignoreNulValues"},
		"no threshold":                    {prometheus, "threshold", "", `missing required parameter "threshold"`},
		"a threshold that is no number":   {prometheus, "threshold", "80 connections", `param "threshold"`},
		"no zone":                         {cron, "timezone", "", `missing required parameter "timezone"`},
		"Sunday as the seventh day":       {cron, "end", "0 9 * * 7", "error parsing end schedule"},
		"midnight as the 24th hour":       {cron, "end", "0 24 * * 1-5", "error parsing end schedule"},
		"an end that is the start":        {cron, "end", "0 8 * * 1-5", "exactly same time"},
		"no pods":                         {cron, "desiredReplicas", "0", "no desiredReplicas"},
		"a utilization in words":          {cpu, "value", "60%", "invalid syntax"},
		"a container under another's key": {cpu, "container", "server", "Unmatched input property container"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := newScaler(c.sound, 0); err != nil {
				t.Fatalf("the sound trigger: %v", err)
			}
			c.sound.Metadata = maps.Clone(c.sound.Metadata)
			if c.sound.Metadata[c.key] = c.value; c.value == "" {
				delete(c.sound.Metadata, c.key)
			}
			if _, err := newScaler(c.sound, 0); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error with %q", err, c.want)
			}
		})
	}
}
