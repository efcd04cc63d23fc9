package schema

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"time"

	"github.com/meshgen/meshgen/internal/diag"
)

// patience is how long a process may be silent, whatever the machine is doing.
const patience = 30 * time.Second

// Evaluator evaluates CUE profiles in processes of their own, for a page of CUE
// can ask for more time and memory than any machine has, and nothing stops an
// evaluation but the end of its process. A process that has done one profile
// takes the next. An Evaluator is for any number of goroutines.
type Evaluator struct {
	command func() *exec.Cmd
	idle    chan *child
}

// NewEvaluator starts its processes with a command that calls ServeEvaluator on
// its standard input and output; it keeps so many of them for later profiles.
func NewEvaluator(command func() *exec.Cmd, keep int) *Evaluator {
	return &Evaluator{command, make(chan *child, keep)}
}

// Close ends the processes that wait for a profile.
func (e *Evaluator) Close() {
	for {
		select {
		case c := <-e.idle:
			_ = c.end() // it has nothing left to say
		default:
			return
		}
	}
}

func (e *Evaluator) evaluate(fsys fs.FS, file string) (*node, diag.List) {
	c, err := e.child()
	if err != nil {
		return nil, diag.List{atTop(file, Unreadable, fmt.Sprintf("the CUE cannot be evaluated: %v", err), "")}
	}
	result, err := c.evaluate(fsys, file)
	if err != nil {
		return nil, diag.List{exceeded(file, c.end())}
	}
	e.keep(c, len(result.Records))
	if len(result.Records) == 0 {
		return nil, result.Findings
	}
	root, _ := treeOf(result.Records)
	return root, result.Findings
}

func (e *Evaluator) child() (*child, error) {
	select {
	case c := <-e.idle:
		return c, nil
	default:
		return start(e.command())
	}
}

// keep has the process wait for the next profile, unless enough of them do or
// the last was large: its memory is needed elsewhere.
func (e *Evaluator) keep(c *child, nodes int) {
	if nodes <= MaxNodes/16 {
		select {
		case e.idle <- c:
			return
		default:
		}
	}
	_ = c.end() // it has nothing left to say
}

// exceeded is the finding on a profile whose evaluation ended its process.
func exceeded(file string, err error) diag.Finding {
	exit := &exec.ExitError{}
	if !errors.As(err, &exit) {
		return atTop(file, Unreadable, fmt.Sprintf("the CUE cannot be evaluated: %v", err), "")
	}
	const hint = "write out what it computes, or let it compute less"
	switch exit.ExitCode() {
	case outOfTime:
		return atTop(file, TooLarge, fmt.Sprintf("the CUE takes more than %s to evaluate", evaluationTime), hint)
	case outOfMemory:
		return atTop(file, TooLarge, fmt.Sprintf("the CUE takes more than %d MiB to evaluate", evaluationMemory>>20), hint)
	}
	return atTop(file, TooLarge, "the CUE is nested too deeply to be evaluated, or makes a value that is too large", hint)
}

// child is a process that evaluates one profile at a time.
type child struct {
	cmd   *exec.Cmd
	stdin io.Closer
	out   *gob.Encoder
	in    *gob.Decoder
}

func start(cmd *exec.Cmd) (*child, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &child{cmd, stdin, gob.NewEncoder(stdin), gob.NewDecoder(stdout)}, cmd.Start()
}

// evaluate answers what the process asks for until it has the result.
func (c *child) evaluate(fsys fs.FS, file string) (request, error) {
	deadline := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() }) // it may have ended
	defer deadline.Stop()
	say := reply{Profile: file}
	for {
		if err := c.out.Encode(say); err != nil {
			return request{}, err
		}
		var r request
		if err := c.in.Decode(&r); err != nil || r.Kind == haveResult {
			return r, err
		}
		say = answer(fsys, r)
	}
}

// end closes the process's input, which ends it, and says how it ended.
func (c *child) end() error {
	_ = c.stdin.Close() // it may have ended
	return c.cmd.Wait()
}
