package ops

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Ask returns nil if the worker that serves with these options is ready, else why it is not. Of the options
// it uses address, token and certificate. An address without a host, or for all hosts, is asked on this host.
func Ask(ctx context.Context, o Options) error {
	transport := &http.Transport{
		DisableKeepAlives: true,
		// A connection to no host, or to 0.0.0.0, is one to this host; a URL cannot name it so.
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, o.Address)
		},
	}
	u := url.URL{Scheme: "http", Host: "localhost", Path: "/readyz"}
	if o.CertificatePath != "" {
		pair, err := tls.LoadX509KeyPair(o.CertificatePath, o.KeyPath)
		if err != nil {
			return err
		}
		u.Scheme, transport.TLSClientConfig = "https", onlyWith(pair)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	if o.Token != "" {
		request.Header.Set("Authorization", "Bearer "+o.Token)
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("no worker answers at %s: %w", o.Address, err)
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

// onlyWith accepts one certificate. It is the worker's own, so neither its name nor its authority has to fit
// this host.
func onlyWith(pair tls.Certificate) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection compares the certificate itself
		VerifyConnection: func(state tls.ConnectionState) error {
			if !state.PeerCertificates[0].Equal(pair.Leaf) {
				return errors.New("its certificate is not that of RETRY_HTTP_TLS_CERTIFICATE_PATH")
			}
			return nil
		},
	}
}
