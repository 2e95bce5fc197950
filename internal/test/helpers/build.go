package helpers

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// heartbeat is how often a long step says that it is alive.
const heartbeat = 15 * time.Second

// Progress receives one line for people. It must be safe for use by several goroutines.
type Progress func(format string, args ...any)

// Stderr is the Progress of tests: `go test` shows it at once under -v and after a failure.
func Stderr(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

// goBuild is one binary that is built from a Go module and cached in the bin folder.
type goBuild struct {
	// name of the file in the bin folder.
	name string
	// dir is the working directory of the build, pkg the main package as seen from there.
	dir, pkg string
	// flags of go build, beside -o.
	flags []string
	// about says how long a cold build takes.
	about string
	// stamp changes when the binary must be built again.
	stamp string
	// prepare runs before the build, under the build lock. It may be nil.
	prepare func(ctx context.Context) error
}

// ensure returns the path of the binary and builds it when it is missing or its stamp is another.
// Processes that need a binary at the same time wait for the one that builds.
func (b *goBuild) ensure(ctx context.Context, binDir string, progress Progress) (string, error) {
	path := filepath.Join(binDir, b.name)
	if b.fresh(path) {
		return path, nil
	}
	if err := os.MkdirAll(binDir, 0o755); err != nil {
		return "", err
	}
	unlock, err := lockBuilds(ctx, binDir, b.name, progress)
	if err != nil {
		return "", err
	}
	defer unlock()
	if b.fresh(path) {
		return path, nil
	}
	return path, b.build(ctx, path, progress)
}

// fresh reports whether the binary exists and was built with the same stamp.
func (b *goBuild) fresh(path string) bool {
	stamp, err := os.ReadFile(stampPath(path))
	if err != nil || string(stamp) != b.stamp {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// build compiles next to the final path and renames, so that nobody ever sees half a binary.
func (b *goBuild) build(ctx context.Context, path string, progress Progress) error {
	progress("building %s (%s on two cores when nothing is cached)", b.name, b.about)
	start := time.Now()
	defer keepAlive(progress, "still building "+b.name, start)()
	if b.prepare != nil {
		if err := b.prepare(ctx); err != nil {
			return fmt.Errorf("preparing the build of %s: %w", b.name, err)
		}
	}
	temporary := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	defer os.Remove(temporary)
	args := append([]string{"build", "-o", temporary}, b.flags...)
	if _, err := runGo(ctx, b.dir, append(args, b.pkg)...); err != nil {
		return fmt.Errorf("building %s: %w", b.name, err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return err
	}
	progress("built %s in %s", b.name, time.Since(start).Round(time.Second))
	return os.WriteFile(stampPath(path), []byte(b.stamp), 0o644)
}

// stampPath is the file beside a binary that says what it was built from.
func stampPath(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".stamp")
}

// runGo runs the go command in dir and returns its standard output, also after a failure; the error carries the end of
// its messages.
func runGo(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return stdout.Bytes(), fmt.Errorf("go %s in %s: %w\n%s", strings.Join(args, " "), dir, err, lastLines(stderr.String(), 20))
	}
	return stdout.Bytes(), nil
}

// lastLines returns at most n lines from the end of text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}

// keepAlive prints a line with the elapsed time at each heartbeat until the returned function is called.
func keepAlive(progress Progress, what string, start time.Time) (stop func()) {
	done := make(chan struct{})
	go func() {
		ticker := time.NewTicker(heartbeat)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				progress("  %s (%s)", what, time.Since(start).Round(time.Second))
			}
		}
	}()
	return func() { close(done) }
}

// lockBuilds takes the lock of the bin folder: at most one heavy build at a time, whichever process asks.
func lockBuilds(ctx context.Context, binDir, name string, progress Progress) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(binDir, ".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	start, ticker := time.Now(), time.NewTicker(200*time.Millisecond)
	defer ticker.Stop()
	said := start.Add(-heartbeat)
	for syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		if time.Since(said) >= heartbeat {
			said = time.Now()
			progress("  %s: waiting for another process that is building (%s)", name, time.Since(start).Round(time.Second))
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, ctx.Err()
		case <-ticker.C:
		}
	}
	return func() { _ = file.Close() }, nil
}
