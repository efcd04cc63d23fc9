package main

import "fmt"

// status is an exit status, as an error that has been reported already.
type status int

// The exit statuses of every command.
const (
	clean   status = 0
	failed  status = 1 // a failure of meshgen, or wrong usage
	drifted status = 2 // render --check or diff found differences
	denied  status = 3 // a policy denies the output
	invalid status = 4 // invalid input, or no safe value exists
)

// Error says the status; run prints nothing for it.
func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// rank orders statuses by how bad they are: 1, 4, 3, 2, 0.
func (s status) rank() int {
	return map[status]int{failed: 4, invalid: 3, denied: 2, drifted: 1}[s]
}

// worse is the worse of two statuses.
func worse(a, b status) status {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// asError is nil for a clean status.
func (s status) asError() error {
	if s == clean {
		return nil
	}
	return s
}
