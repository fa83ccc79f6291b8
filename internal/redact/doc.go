// Package redact takes personal data out of texts before they are stored, logged, published or shown.
//
// An insurer's error text may carry anything that was in the claim. [Text] replaces what it recognises by a mark that
// says what stood there:
//
//	[CPF]        123.456.789-09, 123 456 789 09, 12345678909
//	[CNS]        15 digits, bare or in groups
//	[CNPJ]       11.222.333/0001-81, also with letters
//	[CARD]       payment cards of 13 to 19 digits
//	[PHONE]      +55 11 98765-4321, (11) 3456-7890
//	[EMAIL]      maria@example.com
//	[BIRTHDATE]  a date after nascimento, data de nasc., dt_nasc, DN, D.N., ...
//	[NAME]       a name after paciente, beneficiário, nome, mãe, titular, associado, usuário, nm_benef, Pac., RN de, ...
//
// # What is found
//
// Form and check digits together decide. A CPF written 999.999.999-99 goes even when its check digits are wrong,
// because a typing error in it is still about a person; so does a CNPJ with its slash. Bare digits go when the check
// digits are right, or when a field's name stands before them ("cpf": 12345678900). The words "cpf", "CNS" or
// "telefone" count in whatever way programs write them: nrCpf, CPF_PACIENTE, cpf%3D, <cpf>.
//
// A spelling does not hide anything: percent signs (also escaped twice), HTML entities, JSON escapes, full-width and
// other scripts' digits, accents in either form, characters that cannot be seen, typographic dashes.
//
// A name needs the word before it. It goes on over capitalised words and their particles (da, de, dos), and ends at
// punctuation, at a digit, or at a word that messages use and people are not called ("não", "CPF", "inativo"). In
// quotes or between tags all of the value is the name. Where nothing but a blank stands between the field and a word
// in small letters, only common given names are taken for names. In doubt a word goes: a reader misses a word, a
// patient would be exposed.
//
// A name may also stand after a comma ("a beneficiária, Ana Paula Souza, ..."), after a number ("BENEFICIARIO: 000123 -
// ANA PAULA"), after a mark other than [EMAIL], after another name in a list, or after a word that is mostly somebody's
// role ("usuário", "pai", "RN de"). There it has to show itself: two words with capitals, or a common given name.
//
// # What is not found
//
//   - A name without a field's name before it ("Maria ligou"), or in a language other than Portuguese beyond the few
//     words that programs use (patient, mother); a name of one word that is no common given name, where it has to show
//     itself ("Paciente 55, Wanderléia", the second of "beneficiários: Ana, Zuleide"), or one in small letters there; a
//     name with any other word between the field and it ("paciente internada ontem, Ana Lima"); the rest of a name in
//     which a word stands that messages use ("Maria Ativa").
//   - A name right behind an e-mail address, and a CPF with wrong check digits and a comma between its digits without a
//     field's name.
//   - Abbreviations of fields other than benef, pac, pcte, resp, assoc, titul and depend, and "recém-nascido de".
//   - Addresses, RG, health plan card numbers, diagnoses: they have no form by which they could be told apart.
//   - 11 digits with wrong check digits, and 10 or 11 digits that are a phone, without a field's name: claims, guides
//     and protocol numbers look the same.
//   - A phone of 8 digits, a date or a part of a name without a field's name.
//   - Data in base64, compressed or encrypted, in pictures, with letters for digits ("um dois três"), or with line
//     breaks and words inside.
//   - A bare card number among the first 2^34 above a multiple of 2^51: those are Zeebe's job keys.
//
// So a redacted text is still to be treated with care; it is less personal, not anonymous.
//
// # What goes by mistake
//
// Of bare numbers that are nobody's, one in a hundred with 11 digits has the check digits of a CPF and one in a hundred
// with 14 those of a CNPJ; of those with 15 digits one in twenty has those of a CNS, and of those with 16 one in forty is
// right for a card. A claim id is no exception. Job keys are one for cards, see above. So do two words with capitals after
// a number or a role: "RN 395 - Agência Nacional", "cliente Oracle Net", a provider's name after its CNPJ; and what
// stands in quotes after "resp".
//
// The package is pure: no clock, no files, no state. It costs nothing to a text without personal data but the reading.
package redact
