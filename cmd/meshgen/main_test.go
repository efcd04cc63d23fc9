package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

func TestTheFirstCollectionAloneIsPutOff(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	putOff()
	if got := percent(); got != untilFirst {
		t.Errorf("up to the first collection it is %d, want %d", got, untilFirst)
	}
	runtime.GC()
	for end := time.Now().Add(time.Minute); percent() != garbage && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if got := percent(); got != garbage {
		t.Errorf("after the first collection it is %d, want %d", got, garbage)
	}
}

// percent is what GOGC is now.
func percent() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
