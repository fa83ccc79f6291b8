// Package loopback names the hosts that plaintext may go to: nothing sent to them leaves this machine.
package loopback

import "net/netip"

// Is reports whether the host, a name or an address without a port, is this machine by its loopback interface. Of names it
// knows only localhost: what any other one resolves to may change.
func Is(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
