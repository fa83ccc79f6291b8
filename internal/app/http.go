package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/ops"
)

// httpGrace is how long a request to the HTTP server may take to finish when the worker stops: longer than a probe.
const httpGrace = time.Second

// listen binds the address of the HTTP server.
func (a *App) listen(metrics prometheus.Gatherer) (err error) {
	a.http, err = ops.New(ops.Options{
		Address:         a.cfg.HTTP.Address,
		Token:           string(a.cfg.HTTP.Token),
		CertificatePath: a.cfg.HTTP.TLSCertificatePath,
		KeyPath:         a.cfg.HTTP.TLSKeyPath,
		Metrics:         metrics,
		Ready:           a.ready,
		Logger:          a.log,
	})
	if err != nil {
		return err
	}
	a.later("close the HTTP server", func() error {
		ctx, cancel := context.WithTimeout(context.Background(), httpGrace)
		defer cancel()
		return a.http.Close(ctx)
	})
	return nil
}

// serve answers requests until the server is closed. Should it break before, the worker stops.
func (a *App) serve() error {
	defer a.stop()
	return a.http.Serve()
}
