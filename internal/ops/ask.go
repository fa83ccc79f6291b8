package ops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Ask returns nil if the worker that serves with these options is ready, else why it is not. Of the options
// it uses address and token. An address without a host, or for all hosts, is asked on this host.
func Ask(ctx context.Context, o Options) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+o.Address+"/readyz", nil)
	if err != nil {
		return err
	}
	request.Host = "localhost" // which is answered wherever the address leads
	if o.Token != "" {
		request.Header.Set("Authorization", "Bearer "+o.Token)
	}
	transport := http.Transport{DisableKeepAlives: true} // without the environment's proxy
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10)) // what breaks off is no answer of a worker
	answer, status := strings.TrimSpace(string(text)), response.StatusCode
	switch {
	case status == http.StatusOK && answer == "ready":
		return nil
	case status == http.StatusServiceUnavailable && strings.HasPrefix(answer, "not ready"):
		return errors.New(answer)
	default:
		return fmt.Errorf("what answers at %s is no worker: its /readyz has status %d", o.Address, status)
	}
}
