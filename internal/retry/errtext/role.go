package errtext

import "strings"

// role is what a word does next to a number, as a name, or between two others; see the table roles.
type role uint32

const (
	roleHTTP role = 1 << iota
	roleStatus
	roleCode
	roleError
	roleReturned
	roleFill // says nothing: de, an, xsi
	roleGlosa
	roleTISS
	roleTable
	roleValue
	roleMessage
	roleFailure
	roleBusiness
	roleSMTP
	roleEnhanced
	roleFaultWord
	rolePrefix
	roleUnit   // seconds, bytes
	roleStop   // names nothing
	roleWhen   // announces a time
	roleWithin // announces a time from now on
	roleOf     // joins a noun to the one before it: de, do, of
	roleIn     // no, na, pelo
	roleApart  // stands between two names, not in one: e, que, com
	roleKept   // of the vocabulary: says nothing about whom a text is about
	roleName   // people are called that
	roleTime   // begins a row of the table times

	// roleIdle are roles that say nothing about a number.
	roleIdle = roleUnit | roleStop | roleWhen | roleWithin | roleOf | roleIn | roleApart | roleKept |
		roleName | roleTime
	// roleNamed are those of names for a number.
	roleNamed = roleHTTP | roleStatus | roleCode | roleError
)

// roleNames are the names of the roles in the table roles, in their order.
var roleNames = strings.Fields(`
	http status code error returned fill glosa tiss table value message failure business
	smtp enhanced faultWord prefix unit stop
	when within of in apart kept name
`)
