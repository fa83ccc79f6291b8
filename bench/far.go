package main

import (
	"context"
	"net"
	"net/url"
	"strings"
	"time"
)

// away is how long what is sent to a server that is far takes there, and its answer back.
const away = 5 * time.Millisecond

// far moves a store's server away. Replicas on one machine share its cores; with a way to the server they wait, as on machines
// of their own, and show whether the store lets them work side by side.
func far(store func(context.Context) ([]string, error)) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		settings, err := store(ctx)
		if err != nil {
			return nil, err
		}
		name, address, _ := strings.Cut(settings[0], "=")
		server, err := url.Parse(address)
		if err != nil {
			return nil, err
		}
		server.Host, err = delay(server.Host)
		return append([]string{name + "=" + server.String()}, settings[1:]...), err
	}
}

// delay forwards a free port of loopback to target for as long as this process lives.
func delay(target string) (address string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target)
			if err != nil {
				_ = client.Close()
				continue
			}
			go forward(server, client)
			go forward(client, server)
		}
	}()
	return listener.Addr().String(), nil
}

// sent is a piece of what is on its way.
type sent struct {
	due   time.Time
	bytes []byte
}

// forward delivers what comes from one side to the other one when its time has come.
func forward(to, from net.Conn) {
	under := make(chan sent, 1<<10)
	go func() {
		defer close(under)
		for {
			buffer := make([]byte, 1<<15)
			n, err := from.Read(buffer)
			under <- sent{time.Now().Add(away), buffer[:n]}
			if err != nil {
				return
			}
		}
	}()
	for s := range under {
		<-time.After(time.Until(s.due))
		_, _ = to.Write(s.bytes) // where it is gone, so is the connection it comes from
	}
	_ = to.Close()
}
