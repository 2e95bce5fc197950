package inventory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	execInfoEnv = "KUBERNETES_EXEC_INFO"

	maxStdout = 1 << 20 // an ExecCredential has a few KiB
	maxStderr = 4 << 10 // the end of it is kept

	// pipeGrace is how long the output of a plugin may stay open after it exited or
	// was killed, because a process that it left behind holds it.
	pipeGrace = 500 * time.Millisecond

	reapTries = 20
	reapPause = 5 * time.Millisecond
)

var errTooMuchOutput = fmt.Errorf("it printed more than %d KiB on standard output; it must print one ExecCredential", maxStdout>>10)

// fetchCredential runs the plugin of a cluster once (KEP-541). The run ends with ctx:
// the plugin and all that it started are then killed. Errors wrap [ErrPluginFailed]
// or [ErrPluginTimeout] and are fit for a user's eyes.
func fetchCredential(ctx context.Context, a Access) (*Credential, error) {
	info, err := encodeExecInfo(a)
	if err != nil {
		return nil, pluginError(a, err, pluginOutput{})
	}
	out, err := runPlugin(ctx, a.Exec, info)
	if err != nil {
		return nil, pluginError(a, err, out)
	}
	credential, err := decodeExecCredential(a.Exec, out.stdout, time.Now())
	if err != nil {
		return nil, pluginError(a, err, out)
	}
	return credential, nil
}

// pluginOutput is what a plugin printed, each stream bounded.
type pluginOutput struct {
	unprintable
	stdout []byte
	stderr string
}

// runPlugin starts the plugin in a process group of its own, waits for it, and leaves
// nothing of the group behind.
func runPlugin(parent context.Context, e Exec, info []byte) (pluginOutput, error) {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	stdout := &headBuffer{overflow: func() { stop(errTooMuchOutput) }}
	stderr := &tailBuffer{}

	cmd := exec.CommandContext(ctx, filepath.Clean(e.Command), e.Args()...)
	cmd.Env = pluginEnv(e, info)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = pipeGrace

	err := cmd.Run()
	if cmd.Process != nil {
		endGroup(cmd.Process.Pid)
	}
	out := pluginOutput{stdout: stdout.buf.Bytes(), stderr: stderr.String()}
	switch {
	case stdout.full:
		return out, errTooMuchOutput
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && cmd.ProcessState.Success():
		return out, nil // it answered; what it left behind is no concern of ours
	case ctx.Err() != nil:
		return out, ErrPluginTimeout
	}
	return out, describeExit(err)
}

// pluginEnv is the environment as client-go builds it.
func pluginEnv(e Exec, info []byte) []string {
	env := os.Environ()
	for _, v := range e.Env() {
		env = append(env, v.Name+"="+v.Value)
	}
	return append(env, execInfoEnv+"="+string(info))
}

// endGroup kills what is left of a process group whose leader is gone. Its members
// become children of this process where that is a container's init; they are then
// reaped, or a controller would collect zombies.
func endGroup(pgid int) {
	if err := syscall.Kill(-pgid, syscall.SIGKILL); err != nil {
		return // nobody left
	}
	for range reapTries {
		pid, err := syscall.Wait4(-pgid, nil, syscall.WNOHANG, nil)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
		if pid <= 0 {
			<-time.After(reapPause)
		}
	}
}

// describeExit says in a user's words how a plugin failed.
func describeExit(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return fmt.Errorf("it was ended by signal %d (%s)", status.Signal(), status.Signal())
		}
		return fmt.Errorf("it exited with status %d", exit.ExitCode())
	}
	cause := err
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		cause = path.Err
	}
	return fmt.Errorf("it cannot be started: %w; install it or correct its command in the provider file", cause)
}

// pluginError names the plugin and its provider, and adds what it had to say. The
// recipe's arguments and environment are left out, they may hold secrets.
func pluginError(a Access, err error, out pluginOutput) error {
	who := fmt.Sprintf("%s of provider %q", a.Exec.Command, a.Provider)
	said := newRedactor(a.Exec, out.stdout).clean(out.stderr)
	if said != "" {
		said = ": " + said
	}
	if errors.Is(err, ErrPluginTimeout) {
		return fmt.Errorf("%w: %s gave no answer in time and was stopped%s; see whether what it asks can be reached, or raise --%s",
			ErrPluginTimeout, who, said, PluginTimeoutFlag)
	}
	return fmt.Errorf("%w: %s: %w%s", ErrPluginFailed, who, err, said)
}

// headBuffer keeps the first maxStdout bytes and fails when there are more.
type headBuffer struct {
	unprintable
	buf      bytes.Buffer
	full     bool
	overflow func()
}

func (b *headBuffer) Write(p []byte) (int, error) {
	room := maxStdout - b.buf.Len()
	if len(p) <= room {
		return b.buf.Write(p)
	}
	b.buf.Write(p[:room])
	b.full = true
	b.overflow()
	return room, errTooMuchOutput // nothing more is read
}

// tailBuffer keeps the last maxStderr bytes.
type tailBuffer struct {
	unprintable
	data []byte
	cut  bool
}

func (b *tailBuffer) Write(p []byte) (int, error) {
	b.data = append(b.data, p...)
	if over := len(b.data) - maxStderr; over > 0 {
		b.data = append(b.data[:0], b.data[over:]...)
		b.cut = true
	}
	return len(p), nil
}

// String drops the word that was cut in two: half of a secret is not recognized.
func (b *tailBuffer) String() string {
	text := string(b.data)
	if !b.cut {
		return text
	}
	if i := strings.IndexAny(text, " \t\r\n"); i >= 0 {
		return "..." + text[i:]
	}
	return "... (a line longer than is kept)"
}
