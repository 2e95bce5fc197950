// Package firewall shows that a spoke behind a firewall is served in push mode. Its API server can be reached in no
// other way than through an HTTP CONNECT proxy, a SOCKS5 proxy, or a reverse proxy with a path per cluster at the end
// of a tunnel that the spoke's side dials. All of them are small servers of the tests; hub and spoke are real API
// servers. docs/firewalled.md says the same to operators; its examples are checked here.
package firewall
