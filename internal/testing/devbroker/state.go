package devbroker

import "hospital.example/analyze-retry/internal/testing/devbroker/process"

// State is what another process needs to find a running broker again. It can be stored as JSON.
type State struct {
	Version   string `json:"version"`
	Dir       string `json:"dir"`
	Ports     Ports  `json:"ports"`
	Records   bool   `json:"records"`
	PID       int    `json:"pid"`
	Container string `json:"container,omitempty"`
}

// State describes the running broker for [Attach].
func (b *Broker) State() State {
	return State{
		Version: b.at.Version, Dir: b.at.Dir, Ports: b.at.Ports, Records: b.at.Records,
		PID: b.process.PID(), Container: b.containerName,
	}
}

// Attach refers to a broker that another process started with [Options].Detach. It may have ended meanwhile, see
// [Broker.Alive]. Its directory is left alone by [Broker.Stop].
func Attach(s State) *Broker {
	b := &Broker{
		at:            instance{Version: s.Version, Dir: s.Dir, Ports: s.Ports, Records: s.Records},
		process:       process.Attach(s.PID, s.Dir),
		containerName: s.Container,
	}
	b.setRecords()
	return b
}
