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

// ports counts the ports that were looked at. It starts at random, so that the processes on a machine look at different ones.
var ports atomic.Uint64

func init() { ports.Store(rand.Uint64N(highestPort - lowestPort)) }

// FreeAddress returns a loopback address, host:port, on which nothing listens now. Until all ports were looked at it returns
// none twice, because the server for which it was chosen may not listen yet.
func FreeAddress() (string, error) {
	for range 200 {
		port := lowestPort + ports.Add(1)%(highestPort-lowestPort)
		address := net.JoinHostPort("127.0.0.1", strconv.FormatUint(port, 10))
		if listener, err := net.Listen("tcp", address); err == nil {
			return address, listener.Close()
		}
	}
	return "", errors.New("no free port found on 127.0.0.1")
}
