package keda_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// testTakeover has KEDA take over the HPA that scales cart today: it is the same
// object afterwards, with its metric and one more. Then Argo CD prunes the HPA,
// as it has left the manifests, and KEDA makes it again. The Deployment runs more
// pods than its minimum, and nobody touches it meanwhile.
func testTakeover(t *testing.T, c *controlPlane, sale bigSale) {
	const namespace, name, replicas = "shop", "cart", 9
	prometheus := startScriptPrometheus(t, newScriptClock(sale.promise.start.AddDate(0, 0, -1)), sale.load, func() ([]string, error) { return nil, nil })
	c.createDeployment(t, namespace, name, replicas)
	today := c.createCPUAutoscaler(t, namespace, name)

	object := renderedScaledObject(t, "workloads/shop/scaledobject-cart.yaml")
	askPrometheus(object, prometheus.url)
	if err := c.client.Create(c.ctx, object); err != nil {
		t.Fatal(err)
	}
	taken := c.waitForHPA(t, object, "")
	c.checkAutoscaler(t, taken, name)
	if taken.UID != today.UID {
		t.Errorf("KEDA replaced the HPA that ran, %s, by another, %s", today.UID, taken.UID)
	}

	if err := c.kube.AutoscalingV2().HorizontalPodAutoscalers(namespace).Delete(c.ctx, name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.checkAutoscaler(t, c.waitForHPA(t, object, taken.UID), name)

	found, err := c.kube.AppsV1().Deployments(namespace).Get(c.ctx, name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if found.Generation != 1 || *found.Spec.Replicas != replicas {
		t.Errorf("the Deployment is at generation %d with %d replicas; want the first, with %d", found.Generation, *found.Spec.Replicas, replicas)
	}
}

// createCPUAutoscaler makes the HPA that bigsale runs today, by hand as a user's
// manifest does, and waits until it scales.
func (c *controlPlane) createCPUAutoscaler(t *testing.T, namespace, name string) *autoscalingv2.HorizontalPodAutoscaler {
	t.Helper()
	hpas := c.kube.AutoscalingV2().HorizontalPodAutoscalers(namespace)
	made, err := hpas.Create(c.ctx, &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name},
			MinReplicas:    new(int32(6)),
			MaxReplicas:    60,
			Metrics:        []autoscalingv2.MetricSpec{cpuUtilization()},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the HPA that runs today scales", func() (bool, error) {
		found, err := hpas.Get(c.ctx, name, metav1.GetOptions{})
		return err == nil && scales(*found), err
	})
	return made
}

func cpuUtilization() autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{
		Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{
			Name:   corev1.ResourceCPU,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(cpuPercent))},
		},
	}
}

// checkAutoscaler compares the HPA of cart with what PLAN.md says of it: it has
// the name of the one that ran, and no other scales beside it; the metric that
// it had is kept.
func (c *controlPlane) checkAutoscaler(t *testing.T, got autoscalingv2.HorizontalPodAutoscaler, name string) {
	t.Helper()
	all, err := c.kube.AutoscalingV2().HorizontalPodAutoscalers(got.Namespace).List(c.ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Items) != 1 || got.Name != name {
		t.Errorf("%d HPAs in %s, KEDA's is %s; want one, %s", len(all.Items), got.Namespace, got.Name, name)
	}
	kept, added := map[corev1.ResourceName]autoscalingv2.MetricTarget{}, map[string]string{}
	for _, metric := range got.Spec.Metrics {
		switch metric.Type {
		case autoscalingv2.ResourceMetricSourceType:
			kept[metric.Resource.Name] = metric.Resource.Target
		case autoscalingv2.ExternalMetricSourceType:
			added[metric.External.Metric.Name] = metric.External.Target.AverageValue.String()
		default:
			t.Errorf("HPA %s has a metric of type %s", got.Name, metric.Type)
		}
	}
	today := cpuUtilization().Resource
	if diff := cmp.Diff(map[corev1.ResourceName]autoscalingv2.MetricTarget{today.Name: today.Target}, kept); diff != "" {
		t.Errorf("the metrics that HPA %s had (-want +got):\n%s", got.Name, diff)
	}
	if diff := cmp.Diff(map[string]string{"s1-prometheus": "1"}, added); diff != "" {
		t.Errorf("the metrics that KEDA adds to HPA %s (-want +got):\n%s", got.Name, diff)
	}
}
