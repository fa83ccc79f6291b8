package transport

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Code returns the status code of a call's error as one of those that gRPC defines: what a gateway makes up beyond them is
// Unknown, so that logs and metrics keep to a closed set.
func Code(err error) codes.Code {
	if code := status.Code(err); code <= codes.Unauthenticated {
		return code
	}
	return codes.Unknown
}

// What a port speaks, where that is certain.
const (
	SpeaksGRPC  = "this is a gRPC port: use grpc:// or grpcs://, or the port of the REST API"
	SpeaksTLS   = "this port speaks TLS: use https://"
	speaksPlain = "this port speaks no TLS: use grpc:// or http://"
	speaksREST  = "does this port speak gRPC? https:// is for the REST API"
)

// hints tell what a port speaks by the words in which the libraries of both protocols complain about it.
var hints = []struct{ words, hint string }{
	{"error reading server preface", "does this port speak gRPC? grpcs:// is for one with TLS, http:// for the REST API"},
	{"missing selected ALPN property", speaksREST},
	{"no application protocol", speaksREST},
	{"unexpected HTTP status code received from server", speaksREST},
	{"first record does not look like a TLS handshake", speaksPlain},
	{"server gave HTTP response to HTTPS client", speaksPlain},
}

// maxText is how many bytes of a gateway's text are kept, which goes into the log.
const maxText = 300

// Fail returns the error of a call that failed with this code, for the log: the text is without the credentials, which a
// gateway or a proxy may repeat, and cut; what the port seems to speak instead is added. The credentials are replaced where
// the gateway refuses them. It may be called on nil.
func (a *Authorizer) Fail(code codes.Code, text string) error {
	if a != nil {
		text = a.mask(text)
		if code == codes.Unauthenticated {
			a.refused()
		}
	}
	words := text
	if len(text) > maxText {
		text = text[:maxText] + "..."
	}
	for _, h := range hints {
		if strings.Contains(words, h.words) {
			text += "; " + h.hint
			break
		}
	}
	return status.Error(code, strings.ToValidUTF8(text, "\uFFFD"))
}
