// Package transporttest holds what every protocol to a cluster must do, as one suite of facts. Each implementation of
// [transport.Client] runs it against a gateway at the wire; the job loop's own tests run over each protocol too.
package transporttest

import (
	"context"
	"crypto/tls"
	"net"
	"testing"

	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

// Protocol is one implementation and how the gateway of a test serves it.
type Protocol struct {
	// Scheme is that of its addresses in plaintext, Secure that with TLS.
	Scheme, Secure string
	// Dial is the implementation.
	Dial func(transport.Config) (transport.Client, error)
	// Pipe makes a gateway serve in memory and returns the function that dials it. It is [enginetest.Gateway.Pipe] or its
	// like.
	Pipe func(*enginetest.Gateway) func(context.Context, string) (net.Conn, error)
	// Serve makes a gateway serve on a listener in the background.
	Serve func(*enginetest.Gateway, net.Listener)
}

// GRPC is the protocol gRPC by an implementation of it.
func GRPC(dial func(transport.Config) (transport.Client, error)) Protocol {
	serve := func(g *enginetest.Gateway, l net.Listener) { g.Serve(l) }
	return Protocol{"grpc", "grpcs", dial, (*enginetest.Gateway).Pipe, serve}
}

// REST is the REST API by an implementation of it.
func REST(dial func(transport.Config) (transport.Client, error)) Protocol {
	serve := func(g *enginetest.Gateway, l net.Listener) { g.ServeREST(l) }
	return Protocol{"http", "https", dial, (*enginetest.Gateway).PipeREST, serve}
}

// Run runs the suite.
func Run(t *testing.T, p Protocol) {
	t.Helper()
	for name, fact := range map[string]func(*testing.T, Protocol){
		"a tenant that is not assigned is denied":      aTenantThatIsNotAssignedIsDenied,
		"jobs come as the broker has them":             jobsComeAsTheBrokerHasThem,
		"answers are read up to a limit":               answersAreReadUpToALimit,
		"long texts of a gateway are cut":              longTextsOfAGatewayAreCut,
		"every answer reaches the broker":              everyAnswerReachesTheBroker,
		"an answer of no kind is refused":              anAnswerOfNoKindIsRefused,
		"an answer that comes too late is told why":    anAnswerThatComesTooLateIsToldWhy,
		"a lock is extended only where there is one":   aLockIsExtendedOnlyWhereThereIsOne,
		"every failure keeps its code":                 everyFailureKeepsItsCode,
		"a call ends with its context":                 aCallEndsWithItsContext,
		"all resources are deployed at once":           allResourcesAreDeployedAtOnce,
		"a refused deployment names all faults":        aRefusedDeploymentNamesTheFaultsOfAllModels,
		"a message is sent as it is":                   aMessageIsSentAsItIs,
		"a message goes again only to a busy gateway":  aMessageGoesAgainOnlyToABusyGateway,
		"a gateway that is back is found soon":         aGatewayThatIsBackIsFoundSoon,
		"every call carries the token":                 everyCallCarriesTheToken,
		"every call carries user and password":         everyCallCarriesUserAndPassword,
		"no error repeats the credentials":             noErrorRepeatsTheCredentials,
		"a token that is refused is replaced":          aTokenThatIsRefusedIsReplaced,
		"only the right gateway is trusted":            onlyTheRightGatewayIsTrusted,
		"a client certificate is presented on request": aClientCertificateIsPresentedOnRequest,
	} {
		t.Run(name, func(t *testing.T) { fact(t, p) })
	}
}

// rig is a gateway that is reached in memory, and a client of it.
type rig struct {
	*testing.T
	gateway *enginetest.Gateway
	client  transport.Client
}

// connect makes a gateway and a client of it, for a test inside or outside of a bubble.
func (p Protocol) connect(t *testing.T, c transport.Config) rig {
	t.Helper()
	g := enginetest.New()
	t.Cleanup(g.Close)
	c.ZeebeAddress, c.Dial = p.Scheme+"://127.0.0.1:1", p.Pipe(g)
	return rig{t, g, p.dial(t, c)}
}

// dial makes a client that is closed with the test.
func (p Protocol) dial(t *testing.T, c transport.Config) transport.Client {
	t.Helper()
	client, err := p.Dial(c)
	check.Must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// listen makes a gateway serve on loopback and returns its address; config is nil for plaintext.
func (p Protocol) listen(t *testing.T, g *enginetest.Gateway, config *tls.Config) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	address := listener.Addr().String()
	if config != nil {
		config.NextProtos = []string{"h2", "http/1.1"}
		listener = tls.NewListener(listener, config)
	}
	p.Serve(g, listener)
	t.Cleanup(g.Close)
	return address
}
