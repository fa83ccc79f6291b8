package transporttest

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/config/readfile"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

const secret = "s3cret-of-the-client"

// issuing returns a configuration with tokens that last for an hour.
func issuing() transport.Config {
	return transport.Config{
		Cluster:   config.Cluster{ZeebeClientID: "id", ZeebeClientSecret: secret, ZeebeAuthorizationURL: "https://login.example/token"},
		TokenHTTP: enginetest.NewIssuer(enginetest.Issues(time.Hour)),
	}
}

func everyCallCarriesTheToken(t *testing.T, p Protocol) {
	t.Helper()
	var forms []http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		forms = append(forms, *r)
		_ = enginetest.Issues(time.Hour)(w, r, len(forms))
	}))
	defer server.Close()
	g := enginetest.New()
	client := p.dial(t, transport.Config{Cluster: config.Cluster{
		ZeebeAddress:  p.Scheme + "://" + p.listen(t, g, nil),
		ZeebeClientID: "worker", ZeebeClientSecret: secret, ZeebeAuthorizationURL: config.URL(server.URL + "/token"),
		ZeebeTokenAudience: "zeebe-api", ZeebeTokenScope: "jobs",
	}})
	for _, call := range calls {
		_ = call(t.Context(), client)
	}
	check.Same(t, len(calls), len(g.Calls()), "calls")
	for _, call := range g.Calls() {
		check.Same(t, "Bearer token-1", call.Authorization, "authorization")
	}
	if len(forms) != 1 {
		t.Fatalf("%d tokens were requested", len(forms))
	}
	for name, want := range map[string]string{
		"grant_type": "client_credentials", "client_id": "worker", "client_secret": secret, "audience": "zeebe-api", "scope": "jobs",
	} {
		check.Same(t, want, forms[0].PostForm.Get(name), "%s", name)
	}
}

func everyCallCarriesUserAndPassword(t *testing.T, p Protocol) {
	t.Helper()
	r := p.connect(t, transport.Config{Cluster: config.Cluster{BasicUser: "demo", BasicPassword: "sénha:1"}})
	for _, call := range calls {
		_ = call(t.Context(), r.client)
	}
	for _, call := range r.gateway.Calls() {
		user, password, _ := (&http.Request{Header: http.Header{"Authorization": {call.Authorization}}}).BasicAuth()
		if user != "demo" || password != "sénha:1" {
			t.Errorf("authorization is %q", call.Authorization)
		}
	}
}

func noErrorRepeatsTheCredentials(t *testing.T, p Protocol) {
	t.Helper()
	for _, c := range []transport.Config{{Cluster: config.Cluster{BasicUser: "demo", BasicPassword: secret}}, issuing()} {
		r := p.connect(t, c)
		for method, call := range calls {
			r.gateway.Inject(method, enginetest.Fault{Code: codes.PermissionDenied})
			err := call(t.Context(), r.client)
			check.Fails(t, err, "***")
			for _, hidden := range []string{secret, "token-1", base64.StdEncoding.EncodeToString([]byte("demo:" + secret))} {
				if strings.Contains(err.Error(), hidden) {
					t.Errorf("%s: %v", method, err)
				}
			}
		}
	}
}

func aTokenThatIsRefusedIsReplaced(t *testing.T, p Protocol) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := p.connect(t, issuing())
		r.gateway.Inject(enginetest.Topology, enginetest.Fault{Code: codes.Unauthenticated})
		_, err := r.client.Topology(t.Context())
		check.Same(t, codes.Unauthenticated, transport.Code(err), "code of %v", err)
		<-time.After(time.Minute)
		_, _ = r.client.Topology(t.Context()) // it does not wait for the next token
		synctest.Wait()
		_, _ = r.client.Topology(t.Context())
		calls := r.gateway.Calls()
		check.Same(t, "Bearer token-2", calls[len(calls)-1].Authorization, "authorization")
	})
}

// serveTLS starts a gateway that shows a certificate, and returns its address.
func (p Protocol) serveTLS(t *testing.T, certificate, key string, change func(*tls.Config)) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(certificate, key)
	check.Must(t, err)
	served := &tls.Config{Certificates: []tls.Certificate{pair}}
	if change != nil {
		change(served)
	}
	return p.listen(t, enginetest.New(), served)
}

// reach queries a gateway's topology, as readiness does.
func (p Protocol) reach(t *testing.T, c config.Cluster) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := p.dial(t, transport.Config{Cluster: c}).Topology(ctx)
	return err
}

func onlyTheRightGatewayIsTrusted(t *testing.T, p Protocol) {
	t.Helper()
	ours, ca := newAuthority(t)
	_, others := newAuthority(t)
	certificate, key := ours.issue(t)
	good := p.serveTLS(t, certificate, key, nil)
	for name, test := range map[string]struct {
		ca, refuse string // refuse is empty if the gateway is trusted
	}{
		"custom authority and the certificate's name": {ca, ""},
		"another authority":                           {others, "x509: certificate signed by unknown authority"},
		"system authorities":                          {"", "failed to verify certificate"}, // in the system's words
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := p.reach(t, config.Cluster{ZeebeAddress: p.Secure + "://" + good, ZeebeCACertificate: test.ca})
			if test.refuse == "" {
				check.Must(t, err)
				return
			}
			check.Fails(t, err, test.refuse)
			check.Same(t, codes.Unavailable, transport.Code(err), "code of %v", err)
		})
	}
}

func aClientCertificateIsPresentedOnRequest(t *testing.T, p Protocol) {
	t.Helper()
	ours, ca := newAuthority(t)
	others, _ := newAuthority(t)
	certificate, key := ours.issue(t)
	address := p.serveTLS(t, certificate, key, func(c *tls.Config) {
		c.ClientAuth = tls.RequireAndVerifyClientCert
		var err error
		c.ClientCAs, err = readfile.Authorities(ca)
		check.Must(t, err)
	})
	c := config.Cluster{ZeebeAddress: p.Secure + "://" + address, ZeebeCACertificate: ca}
	check.Fails(t, p.reach(t, c))
	c.ZeebeClientCertificate, c.ZeebeClientKey = ours.issue(t)
	check.Must(t, p.reach(t, c))
	c.ZeebeClientCertificate, c.ZeebeClientKey = others.issue(t)
	check.Fails(t, p.reach(t, c))
}
