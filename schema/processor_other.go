//go:build !unix

package schema

import "time"

var started = time.Now()

// processorTime is the clock's, where the processor's is not to be had.
func processorTime() time.Duration { return time.Since(started) }
