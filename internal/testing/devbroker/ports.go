package devbroker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Free ports are looked for below the range from which systems take the ports of outgoing connections (32768 and up on
// Linux, 49152 on macOS). Inside it, a client that keeps dialling a broker that is away can end up occupying its port.
const lowestPort, highestPort = 20000, 32000

// errPortInUse is returned when a port that was asked for is taken.
var errPortInUse = errors.New("port is in use")

// Ports are the ports of one broker.
type Ports struct {
	// Gateway is for gRPC clients.
	Gateway int `json:"gateway"`
	// Monitoring has the metrics, the health and the clock.
	Monitoring int `json:"monitoring"`
	// REST is for clients of the REST API.
	REST int `json:"rest"`
	// Command and Internal are of no use to us, but the broker opens them.
	Command  int `json:"command"`
	Internal int `json:"internal"`
}

// pickPorts returns five ports that are free now. Those that people use may be fixed; 0 leaves the choice.
func pickPorts(gateway, monitoring, rest int) (Ports, error) {
	var picker portPicker
	defer picker.release()
	p := Ports{
		Gateway:    picker.pick(gateway),
		Monitoring: picker.pick(monitoring),
		REST:       picker.pick(rest),
		Command:    picker.pick(0),
		Internal:   picker.pick(0),
	}
	return p, picker.err
}

// portPicker holds the ports it has picked until release, so that it does not pick one twice.
type portPicker struct {
	held []net.Listener
	err  error
}

func (p *portPicker) pick(fixed int) int {
	if p.err != nil {
		return 0
	}
	if fixed != 0 {
		if !p.hold(fixed) {
			p.err = fmt.Errorf("%w: %d; stop what listens there or choose another", errPortInUse, fixed)
		}
		return fixed
	}
	for range 200 {
		if port := lowestPort + rand.IntN(highestPort-lowestPort); p.hold(port) {
			return port
		}
	}
	p.err = fmt.Errorf("no free port found between %d and %d", lowestPort, highestPort)
	return 0
}

func (p *portPicker) hold(port int) bool {
	listener, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return false
	}
	p.held = append(p.held, listener)
	return true
}

func (p *portPicker) release() {
	for _, listener := range p.held {
		_ = listener.Close()
	}
}

func loopback(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
