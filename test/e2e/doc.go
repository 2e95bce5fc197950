// Package e2e holds the end-to-end tests: the real addon-controller v1.14.0, upgraded by hack/upgrade and run as a
// process, on a hub and spokes that are real API servers. They are built with the tag e2e only; run them with
// `make e2e`.
//
// All tests share one hub and its spokes. A group is one addon-controller with its own flags; the scenarios of a group
// share it and keep apart by namespace and labels. To add a scenario: take the group whose flags fit, or start one with
// startGroup, call scenario, and say what should happen with its methods.
package e2e
