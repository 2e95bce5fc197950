//go:build e2e

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/addons"
)

const (
	// soon is the time limit for what needs a reconcile; addon-controller requeues after 10 s by itself.
	soon = 60 * time.Second
	// never is how long a test watches that nothing happens, counted from a sign that the controller has acted.
	never = 3 * time.Second

	missingPluginProvider = "plugin-not-installed"
)

func TestMain(m *testing.M) { helpers.Main(m) }

// group is one addon-controller with its flags.
type group struct {
	hub        *helpers.Cluster
	controller *addons.Controller
	// dir holds the files of the group: logs, kubeconfig, provider file.
	dir string

	options addons.Options
	// supervised: a controller that has ended is started again, as a Deployment does. addon-controller ends itself to
	// rebuild its memory when a cluster moves between shards.
	supervised bool
	others     []*member
}

// member is a further addon-controller of a group.
type member struct {
	options    addons.Options
	controller *addons.Controller
}

// groupOptions are the differences between groups.
type groupOptions struct {
	// variant of addon-controller, helpers.Upgraded by default.
	variant helpers.Variant
	// backendOff leaves the flag away.
	backendOff bool
	// providerFile is used as it is; by default one with the provider kubeconfig-secretreader, and one whose plugin is
	// not installed, is written.
	providerFile string
	// args are further flags.
	args []string
	// hub is the shared hub by default.
	hub *helpers.Cluster
}

// startGroup starts an addon-controller for the test and its subtests.
func startGroup(t *testing.T, options groupOptions) *group {
	t.Helper()
	root, err := helpers.Root()
	require.NoError(t, err)
	if options.variant == "" {
		options.variant = helpers.Upgraded
	}
	binary, err := helpers.BuildAddonController(t.Context(), options.variant, helpers.Stderr)
	require.NoError(t, err)

	g := &group{hub: options.hub, dir: filepath.Join(helpers.BuildDir(root), "e2e", t.Name())}
	if g.hub == nil {
		g.hub = helpers.SharedHub(t)
	}
	require.NoError(t, os.RemoveAll(g.dir), "the log is to be of this run only")
	hubKubeconfig := filepath.Join(g.dir, "hub.kubeconfig")
	require.NoError(t, g.hub.WriteKubeconfig(hubKubeconfig))
	if options.providerFile == "" && !options.backendOff {
		options.providerFile = filepath.Join(g.dir, "providers.json")
		require.NoError(t, helpers.WriteProviderFile(options.providerFile, g.providers(t, hubKubeconfig)...))
	}
	g.options = addons.Options{
		Binary:        binary,
		Hub:           g.hub,
		HubKubeconfig: hubKubeconfig,
		Dir:           g.dir,
		ProviderFile:  options.providerFile,
		Args:          options.args,
	}
	g.controller = addons.Run(t, g.options)
	return g
}

// another starts a second addon-controller on the same hub.
func (g *group) another(t *testing.T, name string, args ...string) *member {
	t.Helper()
	m := &member{options: g.options}
	m.options.Name, m.options.Args = name, args
	m.controller = addons.Run(t, m.options)
	g.others = append(g.others, m)
	return m
}

// revive starts again what has ended.
func (g *group) revive(s *scenario) {
	s.Helper()
	for _, m := range append([]*member{{g.options, g.controller}}, g.others...) {
		if m.controller.Alive() == nil {
			continue
		}
		controller, err := addons.Start(context.WithoutCancel(s.Context()), m.options)
		require.NoError(s, err)
		*m.controller = *controller
	}
}

// retire stops a member for good.
func (g *group) retire(m *member) {
	m.controller.Stop()
	g.others = slices.DeleteFunc(g.others, func(other *member) bool { return other == m })
}

// restart ends the group's addon-controller and starts it again.
func (g *group) restart(s *scenario) {
	s.Helper()
	g.controller.Stop()
	controller, err := addons.Start(s.Context(), g.options)
	require.NoError(s, err)
	*g.controller = *controller
}

// providers are the entries of the default provider file.
func (g *group) providers(t *testing.T, hubKubeconfig string) []helpers.Provider {
	t.Helper()
	binaries, err := helpers.EnsureBinaries(t.Context(), helpers.Stderr)
	require.NoError(t, err)
	return []helpers.Provider{
		helpers.SecretReader(binaries.KubeconfigSecretReader, hubKubeconfig),
		{Name: missingPluginProvider, Command: filepath.Join(g.dir, "no-such-plugin")},
	}
}

// atOnce runs stories side by side: they wait for requeues more than they work, and each has its own names.
func (g *group) atOnce(t *testing.T, stories map[string]func(*scenario)) {
	t.Helper()
	t.Run("AtOnce", func(t *testing.T) {
		for name, story := range stories {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				story(g.scenario(t))
			})
		}
	})
}
