package ops

import (
	"crypto/tls"
	"fmt"
	"sync/atomic"

	"hospital.example/analyze-retry/internal/readfile"
)

// certificate is the server's certificate with its key, in files.
type certificate struct {
	path, keyPath string
	last          atomic.Pointer[tls.Certificate]
}

// get reads the files for each handshake, which takes longer than that. While the pair is being replaced and its halves do not
// fit, it returns the last pair that did.
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
