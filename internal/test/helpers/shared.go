package helpers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/projectsveltos/libsveltos/internal/test/helpers/external"
)

// shared holds the clusters that the tests of one package use together. Main creates it.
type sharedClusters struct {
	mu       sync.Mutex
	clusters map[string]*Cluster
}

var shared *sharedClusters

// Main runs the tests of a package and stops its shared clusters afterwards, also on an interrupt:
//
//	func TestMain(m *testing.M) { helpers.Main(m) }
func Main(m *testing.M) {
	ctrllog.SetLogger(logr.Discard())
	shared = &sharedClusters{clusters: map[string]*Cluster{}}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupted
		_ = shared.stop()
		os.Exit(130)
	}()
	code := m.Run()
	if err := shared.stop(); err != nil {
		Stderr("%v", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// SharedHub returns the hub of this test package and starts it when it is first asked for. Tests keep to namespaces of
// their own or clean up.
func SharedHub(tb testing.TB) *Cluster {
	tb.Helper()
	return shared.get(tb, Hub(external.Addons, external.ClusterAPI))
}

// SharedSpoke returns the spoke of that name of this test package and starts it when it is first asked for.
func SharedSpoke(tb testing.TB, name string) *Cluster {
	tb.Helper()
	return shared.get(tb, Spoke(name))
}

// get returns the cluster of options.Name; the lock spans its start, so that two tests do not both start it.
func (s *sharedClusters) get(tb testing.TB, options ClusterOptions) *Cluster {
	tb.Helper()
	require.NotNil(tb, s, "shared clusters need `func TestMain(m *testing.M) { helpers.Main(m) }` in the package")
	s.mu.Lock()
	defer s.mu.Unlock()
	if cluster, started := s.clusters[options.Name]; started {
		return cluster
	}
	// Not the context of the test: the cluster outlives it.
	cluster, err := NewCluster(context.Background(), options, Stderr)
	require.NoError(tb, err)
	s.clusters[options.Name] = cluster
	return cluster
}

// stop stops all shared clusters.
func (s *sharedClusters) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for name, cluster := range s.clusters {
		if err := cluster.Stop(); err != nil {
			errs = append(errs, fmt.Errorf("shared cluster %s: %w", name, err))
		}
		delete(s.clusters, name)
	}
	return errors.Join(errs...)
}
