package inventory

import (
	"errors"
)

// What can be wrong, apart from errors of the hub's API server, which pass through
// unchanged. Test with errors.Is.
var (
	// ErrNotConfigured: no provider file was given, so the backend is off.
	ErrNotConfigured = errors.New("inventory ClusterProfiles are not configured")
	// ErrProviderFile: the provider file cannot be read or was refused.
	ErrProviderFile = errors.New("provider file refused")
	// ErrNoAccessProvider: the profile offers no access provider that is configured.
	ErrNoAccessProvider = errors.New("no access provider that is offered is configured")
	// ErrRefused: the profile's status asks for something that is not safe to do.
	ErrRefused = errors.New("profile refused")
	// ErrPluginFailed: the credential plugin is missing, could not be started, failed,
	// or answered with something that is no credential.
	ErrPluginFailed = errors.New("credential plugin failed")
	// ErrPluginTimeout: the credential plugin did not answer within its limit.
	ErrPluginTimeout = errors.New("credential plugin timed out")
)

// refusal is the reason label of a refused profile.
func refusal(err error) string {
	for _, r := range []struct {
		cause error
		label string
	}{
		{ErrNoAccessProvider, "no_access_provider"},
		{ErrPluginFailed, "plugin_missing"},
		{ErrRefused, "unsafe_status"},
	} {
		if errors.Is(err, r.cause) {
			return r.label
		}
	}
	return "other"
}
