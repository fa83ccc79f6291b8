package process

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Free ports are looked for below the range from which systems take the ports of outgoing connections (32768 and up on
// Linux, 49152 on macOS). Inside it, a client that keeps dialling a server that is away can end up occupying its port.
const lowestPort, highestPort = 20000, 32000

// FreeAddress returns a loopback address, host:port, on which nothing listens now.
func FreeAddress() (string, error) {
	for range 200 {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(lowestPort+rand.IntN(highestPort-lowestPort)))
		if listener, err := net.Listen("tcp", address); err == nil {
			return address, listener.Close()
		}
	}
	return "", errors.New("no free port found on 127.0.0.1")
}
