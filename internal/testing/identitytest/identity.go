// Package identitytest stands in for Camunda's Identity and for its Keycloak: a server on loopback that issues signed tokens to
// clients and names the tenants of each to a broker of 8.5 or 8.6. Broker and worker check and fetch tokens as in production.
package identitytest

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"

	"hospital.example/analyze-retry/internal/testing/check"
)

const (
	// Audience is whom the tokens are for.
	Audience = "zeebe-api"

	realm  = "/auth/realms/camunda-platform"
	openID = realm + "/protocol/openid-connect"
	keyID  = "k1"
	// lifetime is that of tokens, unless [Server.LetTokensLive] has set another.
	lifetime = time.Hour
)

// Server is the server. Its methods may be called at any time.
type Server struct {
	url string
	key *rsa.PrivateKey

	mu          sync.Mutex
	clients     map[string]client
	issued      map[string]int // tokens that a client has fetched
	lives, said time.Duration
}

// client is what the server knows of a client.
type client struct {
	secret  string
	tenants []string
}

// Start starts a server that knows no client. It ends with the test.
func Start(t *testing.T) *Server {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	check.Must(t, err)
	s := &Server{key: key, clients: map[string]client{}, issued: map[string]int{}, lives: lifetime, said: lifetime}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+openID+"/certs", s.certs)
	mux.HandleFunc("POST "+openID+"/token", s.fetch)
	mux.HandleFunc("GET /api/tenants/for-token", s.tenants)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// Know makes a client known by its id, with a secret and the tenants that are assigned to it.
func (s *Server) Know(id, secret string, tenants ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients[id] = client{secret, tenants}
}

// LetTokensLive sets for how long the tokens that are fetched from now on are valid, and for how long they are said to be.
func (s *Server) LetTokensLive(lives, said time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lives, s.said = lives, said
}

// Issued returns how many tokens a client has fetched.
func (s *Server) Issued(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.issued[id]
}

// TokenURL returns where clients fetch tokens.
func (s *Server) TokenURL() string { return s.url + openID + "/token" }

// BrokerSettings returns the settings, NAME=value, of a broker with multi-tenancy that asks this server about every call by gRPC.
func (s *Server) BrokerSettings() []string {
	const gateway = "ZEEBE_BROKER_GATEWAY_"
	return append(s.identity(gateway+"SECURITY_AUTHENTICATION_IDENTITY_"),
		gateway+"MULTITENANCY_ENABLED=true", gateway+"SECURITY_AUTHENTICATION_MODE=identity")
}

// RESTSettings returns further settings for a broker of 8.6 to ask about calls of its REST API too.
func (s *Server) RESTSettings() []string {
	const identity = "CAMUNDA_IDENTITY_"
	return append(s.identity(identity), identity+"ISSUER="+s.url+realm, "SPRING_PROFILES_ACTIVE=broker,identity-auth")
}

func (s *Server) identity(prefix string) []string {
	return []string{
		prefix + "TYPE=KEYCLOAK", prefix + "ISSUERBACKENDURL=" + s.url + realm, prefix + "AUDIENCE=" + Audience, prefix + "BASEURL=" + s.url,
	}
}

// Credentials authorize a test's own calls to the gateway as those of a client.
func (s *Server) Credentials(id string) credentials.PerRPCCredentials { return perRPC{s, id} }

type perRPC struct {
	server *Server
	client string
}

func (p perRPC) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	token, err := p.server.token(p.client, lifetime)
	return map[string]string{"authorization": "Bearer " + token}, err
}

// RequireTransportSecurity is false, because the broker is on loopback.
func (perRPC) RequireTransportSecurity() bool { return false }

// certs answers with the key that the tokens are checked by. The broker keeps it.
func (s *Server) certs(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{"keys": []map[string]string{{
		"kty": "RSA", "alg": "RS256", "use": "sig", "kid": keyID,
		"n": base64.RawURLEncoding.EncodeToString(s.key.N.Bytes()),
		"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(s.key.E)).Bytes()),
	}}})
}

// fetch answers a client's request for a token.
func (s *Server) fetch(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.PostFormValue("client_id")
	known, ok := s.clients[id]
	if !ok || known.secret != r.PostFormValue("client_secret") || r.PostFormValue("audience") != Audience {
		answer(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
		return
	}
	token, err := s.token(id, s.lives)
	if err != nil {
		answer(w, http.StatusInternalServerError, map[string]string{"error": err.Error()})
		return
	}
	s.issued[id]++
	answer(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": s.said.Seconds()})
}

// tenants answers with the tenants of a token's client. Only the broker asks, which has checked the token.
func (s *Server) tenants(w http.ResponseWriter, r *http.Request) {
	var claims struct {
		Subject string `json:"sub"`
	}
	parts := strings.Split(r.Header.Get("Authorization"), ".")
	if len(parts) != 3 {
		http.Error(w, "no token", http.StatusUnauthorized)
		return
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(payload, &claims)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	assigned := []map[string]string{}
	for _, tenant := range s.clients[claims.Subject].tenants {
		assigned = append(assigned, map[string]string{"tenantId": tenant, "name": tenant})
	}
	answer(w, http.StatusOK, assigned)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that has gone away misses nothing
}

// token returns a JSON web token of a client that is valid for so long.
func (s *Server) token(id string, lives time.Duration) (string, error) {
	now := time.Now()
	claims, err := json.Marshal(map[string]any{
		"sub": id, "aud": []string{Audience}, "iss": s.url + realm, "iat": now.Unix(), "exp": now.Add(lives).Unix(),
	})
	if err != nil {
		return "", err
	}
	header := `{"alg":"RS256","typ":"JWT","kid":"` + keyID + `"}`
	signed := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, s.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", err
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}
