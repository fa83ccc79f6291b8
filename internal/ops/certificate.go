package ops

import (
	"crypto/tls"
	"fmt"
	"sync/atomic"

	"hospital.example/analyze-retry/internal/readfile"
)

// certificate is what the server shows to who connects by TLS.
type certificate struct {
	path, keyPath string
	last          atomic.Pointer[tls.Certificate]
}

// get reads the files, as Prometheus's own servers do: that takes less time than the handshake it is for. While the pair is
// being replaced, and its halves do not fit, the last one that did stays in use.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	pair, err := readfile.Pair(c.path, c.keyPath)
	if err == nil {
		c.last.Store(&pair)
		return &pair, nil
	}
	if last := c.last.Load(); last != nil {
		return last, nil
	}
	return nil, fmt.Errorf("RETRY_HTTP_TLS_CERTIFICATE_PATH, RETRY_HTTP_TLS_KEY_PATH: %w", err)
}
