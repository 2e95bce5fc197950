// Package addons runs addon-controller against a hub and speaks its API: Sveltos ClusterProfiles in, ClusterSummaries
// out. The objects are handled without the controller's Go types, which are no dependency of this module.
package addons

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/projectsveltos/libsveltos/internal/test/helpers"
)

// startTimeout is how long addon-controller may take until it is ready, on a busy machine.
const startTimeout = 3 * time.Minute

// ErrController says that addon-controller did not become ready.
var ErrController = errors.New("addon-controller is not ready")

// Options describe an addon-controller to start.
type Options struct {
	// Binary is the path that helpers.BuildAddonController returned.
	Binary string
	// Hub is the cluster it works on, HubKubeconfig a file with access to it.
	Hub           *helpers.Cluster
	HubKubeconfig string
	// Dir receives the log.
	Dir string
	// Name is the name of the log file, "addon-controller" by default; needed when one folder serves several.
	Name string
	// ProviderFile is the value of --clusterprofile-provider-file. Without it the inventory backend is off.
	ProviderFile string
	// Args are further flags, such as --shard-key=a.
	Args []string
}

// Controller is a running addon-controller.
type Controller struct {
	*helpers.Process

	diagnostics string
}

// Start starts addon-controller and returns when its manager runs. The caller stops it.
func Start(ctx context.Context, options Options) (*Controller, error) {
	diagnostics, err := freeAddress()
	if err != nil {
		return nil, err
	}
	health, err := freeAddress()
	if err != nil {
		return nil, err
	}
	name := options.Name
	if name == "" {
		name = "addon-controller"
	}
	process, err := helpers.StartProcess(helpers.ProcessOptions{
		Name:    name,
		Path:    options.Binary,
		Args:    options.flags(diagnostics, health),
		Env:     []string{"NAMESPACE=" + helpers.SveltosNamespace, "KUBECONFIG=" + options.HubKubeconfig},
		LogFile: filepath.Join(options.Dir, name+".log"),
	})
	if err != nil {
		return nil, err
	}
	controller := &Controller{Process: process, diagnostics: diagnostics}
	if err := controller.waitReady(ctx, "http://"+health+"/readyz"); err != nil {
		process.Stop()
		return nil, err
	}
	return controller, nil
}

// Run starts addon-controller for one test and stops it when the test ends. The end of the log is printed when the
// test failed.
func Run(tb testing.TB, options Options) *Controller {
	tb.Helper()
	controller, err := Start(tb.Context(), options)
	require.NoError(tb, err)
	tb.Cleanup(func() {
		controller.Stop()
		if tb.Failed() {
			tb.Logf("end of %s:\n%s", controller.LogFile, controller.LogTail(30))
		}
	})
	return controller
}

// flags are the command-line flags; all servers are on loopback.
func (o Options) flags(diagnostics, health string) []string {
	flags := []string{
		"--insecure-diagnostics",
		"--diagnostics-address=" + diagnostics,
		"--health-addr=" + health,
		"--disable-telemetry",
		"--webhook-port=0",
		"--v=5",
	}
	if o.ProviderFile != "" {
		flags = append(flags, "--clusterprofile-provider-file="+o.ProviderFile)
	}
	return append(flags, o.Args...)
}

// waitReady polls the readiness check of the manager.
func (c *Controller) waitReady(ctx context.Context, url string) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, startTimeout, true, func(ctx context.Context) (bool, error) {
		if err := c.Alive(); err != nil {
			return false, err
		}
		response, err := get(ctx, url)
		if err != nil {
			return false, nil //nolint:nilerr // not listening yet
		}
		return response.StatusCode == http.StatusOK, response.Body.Close()
	})
	if err != nil {
		return fmt.Errorf("%w: %w; log: %s", ErrController, err, c.LogFile)
	}
	return nil
}

// MatchingClusters returns how many clusters a Sveltos ClusterProfile matched when the controller last reconciled it,
// from the controller's own metrics. reconciled is false while the controller has not looked at the profile yet.
func (c *Controller) MatchingClusters(ctx context.Context, profile string) (count int, reconciled bool, err error) {
	response, err := get(ctx, "http://"+c.diagnostics+"/metrics")
	if err != nil {
		return 0, false, errors.Join(err, c.Alive())
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		series, value, _ := strings.Cut(lines.Text(), "} ")
		if strings.HasPrefix(series, "projectsveltos_matching_clusters{") &&
			strings.Contains(series, `profile_kind="ClusterProfile"`) &&
			strings.Contains(series, `profile_name="`+profile+`"`) {
			count, err = strconv.Atoi(value)
			return count, err == nil, err
		}
	}
	return 0, false, lines.Err()
}

// get is a GET request with a time limit of its own, so that a stuck server does not hang its caller.
func get(ctx context.Context, url string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	return (&http.Client{Timeout: 5 * time.Second}).Do(request)
}

// freeAddress returns a loopback address that nobody listens on at the moment.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
