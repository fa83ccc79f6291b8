package transport

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Code returns the status code of a call's error as one of those that gRPC defines: what a gateway makes up
// beyond them is Unknown, so that logs and metrics keep to a closed set.
func Code(err error) codes.Code {
	if code := status.Code(err); code <= codes.Unauthenticated {
		return code
	}
	return codes.Unknown
}

// maxText is how many bytes of a gateway's text are kept, which goes into the log, and maxInvalid of what it
// refuses as invalid: of a deployment it names the faults of all models, for the person who deploys.
const maxText, maxInvalid = 300, 8 << 10

// Fail returns the error of a call that failed with this code, for the log: the text is without the
// credentials, which a gateway or a proxy may repeat, and cut. The token is replaced that the gateway
// refuses.
func (a *Authorizer) Fail(code codes.Code, text string) error {
	a.mu.Lock()
	for _, secret := range a.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	if code == codes.Unauthenticated {
		a.next = a.requested.Add(tokenPause)
	}
	a.mu.Unlock()
	most := maxText
	if code == codes.InvalidArgument {
		most = maxInvalid
	}
	if len(text) > most {
		text = text[:most] + "..."
	}
	return status.Error(code, strings.ToValidUTF8(text, "\uFFFD"))
}
