package process

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
)

// Free ports are looked for below the range from which systems take the ports of outgoing connections (32768 and up on
// Linux, 49152 on macOS). Inside it, a client that keeps dialling a server that is away can end up occupying its port.
const lowestPort, highestPort = 20000, 32000

// next counts the ports that were looked at. It starts at random, so that the processes on a machine look at different ones.
var next = rand.Uint64N(highestPort - lowestPort)

// Listen listens on a loopback address on which nothing else does. Until all ports were looked at it returns none twice.
func Listen() (net.Listener, error) {
	for range 200 {
		port := lowestPort + atomic.AddUint64(&next, 1)%(highestPort-lowestPort)
		address := net.JoinHostPort("127.0.0.1", strconv.FormatUint(port, 10))
		if listener, err := net.Listen("tcp", address); err == nil {
			return listener, nil
		}
	}
	return nil, errors.New("no free port found on 127.0.0.1")
}

// FreeAddress returns a loopback address, host:port, on which nothing listens now. Who can listen at once calls
// [Listen]: a program that is started in the meantime keeps the port occupied for a moment.
func FreeAddress() (string, error) {
	listener, err := Listen()
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
