// Package suite holds what is tested on real API servers, a hub and spokes, with the
// library alone: reaching a spoke through the inventory, watches, permissions, tenants,
// and clusters of three types that have one name. With a real controller: test/e2e.
package suite
