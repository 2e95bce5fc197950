package helpers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// killAfter is how long a process may take to stop when asked, before it is killed.
const killAfter = 15 * time.Second

// ErrExited says that a process ended which should be running.
var ErrExited = errors.New("process has ended")

// ProcessOptions describe a program to run in the background.
type ProcessOptions struct {
	// Name is used in messages.
	Name string
	// Path and Args are the command; Env is added to the environment of this process.
	Path string
	Args []string
	Env  []string
	// LogFile receives standard output and standard error; it is appended to.
	LogFile string
}

// Process is a program that runs in the background, in a process group of its own, so that an interrupt typed at the
// terminal does not reach it before its starter can stop things in order.
type Process struct {
	// LogFile as given in the options.
	LogFile string

	name string
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// StartProcess starts a program. The caller stops it.
func StartProcess(options ProcessOptions) (*Process, error) {
	if err := os.MkdirAll(filepath.Dir(options.LogFile), 0o755); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(options.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(options.Path, options.Args...)
	cmd.Env = append(os.Environ(), options.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", options.Name, err)
	}
	process := &Process{LogFile: options.LogFile, name: options.Name, cmd: cmd, done: make(chan struct{})}
	go func() {
		process.err = cmd.Wait()
		close(process.done)
	}()
	return process, nil
}

// RunProcess starts a program for one test and stops it when the test ends.
func RunProcess(tb testing.TB, options ProcessOptions) *Process {
	tb.Helper()
	process, err := StartProcess(options)
	require.NoError(tb, err)
	tb.Cleanup(process.Stop)
	return process
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Alive returns nil while the process runs and otherwise an error with the end of its log.
func (p *Process) Alive() error {
	select {
	case <-p.done:
		exit := "exit status 0"
		if p.err != nil {
			exit = p.err.Error()
		}
		return fmt.Errorf("%s: %w (%s); log: %s\n%s", p.name, ErrExited, exit, p.LogFile, p.LogTail(10))
	default:
		return nil
	}
}

// LogTail returns the last lines of the log.
func (p *Process) LogTail(lines int) string {
	data, err := os.ReadFile(p.LogFile)
	if err != nil {
		return err.Error()
	}
	return lastLines(string(data), lines)
}

// Stop asks the process to end, and kills it when it does not. It may be called more than once.
func (p *Process) Stop() {
	// An error means that it has ended already.
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(killAfter):
		_ = syscall.Kill(-p.PID(), syscall.SIGKILL)
		<-p.done
	}
}
