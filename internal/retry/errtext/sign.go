package errtext

import (
	"slices"
	"strings"
)

// sign groups phrases, a bit each.
type sign uint32

const (
	away       sign = 1 << iota // a system is not there
	busy                        // it has too much to do
	timeout                     // it took too long
	connect                     // it was not reached
	lost                        // a connection broke
	server                      // its program failed
	tls                         // the connection could not be secured
	proxy                       // something on the way failed
	token                       // a session is over, and a new one is opened by itself
	noAnswer                    // an answer that is none
	page                        // an HTML page
	advice                      // "tente mais tarde"
	vague                       // says little, but of a system, or with a word that only systems have
	refused                     // refused, for something that is wrong
	deniedSign                  // refused, without a reason
	factSign                    // refused, for what no system that is away would say
	duplicate                   // is there already
	schema                      // the message is not as its schema wants
	parse                       // it could not be read, or not be compared with its schema
	fault                       // the message has a fault
	tissFault                   // a value of tissFault
	own                         // the hospital's own login or password
	setup                       // the hospital's own certificate, key, version, hash or address
	access                      // may not do this
	unsaid                      // refused, and of what is not said: what others become

	whole      // says something else than its words
	noneFound  // nothing was found wrong
	read       // was sent when it failed
	connecting // was not sent yet
	retryAfter // Retry-After
	window     // the days on which submissions are taken
)

// signNames are the names of the signs in the tables, in their order: first those that pass by themselves,
// then those that refuse, then those that say something about another piece.
var signNames = strings.Fields(`
	away busy timeout connect lost server tls proxy token no-answer page advice vague refused denied
	fact duplicate schema parse fault tiss-fault own setup access unsaid whole none-found read
	connecting retry-after window
`)

// signOf returns a sign by its name, 0 for none, and the class that it gives.
func signOf(name string) (s sign, class string) {
	i := slices.Index(signNames, name)
	if i < 0 {
		return 0, ""
	}
	switch s = 1 << i; {
	case s <= vague:
		return s, transient
	case s <= unsaid:
		return s, permanent
	}
	return s, ""
}

// String returns the names of signs in the order of the alphabet.
func (s sign) String() string {
	var names []string
	for i, name := range signNames {
		if s>>i&1 != 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
