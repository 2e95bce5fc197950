package main

import (
	"errors"
	"flag"
	"syscall"
	"time"

	"github.com/projectsveltos/libsveltos/lib/inventory"
)

// childPause is how often it is looked whether plugins are still running.
const childPause = 20 * time.Millisecond

// boundPlugins has a plugin end, and tell what it had to say, before the time of its cluster is up.
func boundPlugins(timeout time.Duration) error {
	limit := timeout - timeout/10
	if pluginFlag() <= limit {
		return nil
	}
	return flag.Set(inventory.PluginTimeoutFlag, limit.String())
}

// pluginFlag is the time limit of one run of a plugin.
func pluginFlag() time.Duration {
	if f := flag.Lookup(inventory.PluginTimeoutFlag); f != nil {
		if d, err := time.ParseDuration(f.Value.String()); err == nil {
			return d
		}
	}
	return inventory.DefaultPluginTimeout
}

// waitForPlugins waits until no plugin is left, which lib/inventory kills when its time is up: one that began late
// must not stay behind when this process ends.
func waitForPlugins(limit time.Duration) {
	for deadline := time.Now().Add(limit + time.Second); time.Now().Before(deadline); {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.ECHILD) {
			return
		}
		if pid == 0 {
			<-time.After(childPause)
		}
	}
}
