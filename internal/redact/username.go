package redact

import "regexp"

// userName matches what people sign in with. A number of a document or a telephone has more digits.
var userName = regexp.MustCompile(`^\pL[\pL._\\-]{0,60}[0-9]{0,7}$`)

// UserName returns a user name as it is, for the trail must say who decided, and of anything else what [Text] returns.
func UserName(s string) string {
	if userName.MatchString(s) {
		return s
	}
	return Text(s)
}
