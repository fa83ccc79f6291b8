package process

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
)

// Free ports are looked for below the range from which systems take the ports of outgoing connections (32768 and up on
// Linux, 49152 on macOS). Inside it, a client that keeps dialling a server that is away can end up occupying its port.
const (
	lowestPort = 20000
	rangePorts = 500
	ranges     = 24
)

// own is the range of ports of this process. Its first port stays occupied, which tells other processes that the range is
// taken: a server that is started again finds its port free.
var own = sync.OnceValues(func() (first net.Listener, err error) {
	for _, n := range rand.Perm(ranges) {
		if first, err = listen(lowestPort + n*rangePorts); err == nil {
			return first, nil
		}
	}
	return nil, errors.New("all ranges of ports on 127.0.0.1 are taken")
})

func listen(port int) (net.Listener, error) {
	return net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}

// looked counts the ports that were looked at.
var looked atomic.Int64

// Listen listens on a loopback address on which nothing else does. Until all ports of the range were looked at it returns
// none twice.
func Listen() (net.Listener, error) {
	first, err := own()
	if err != nil {
		return nil, err
	}
	for range rangePorts {
		port := first.Addr().(*net.TCPAddr).Port + 1 + int(looked.Add(1)%(rangePorts-1))
		if listener, err := listen(port); err == nil {
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
