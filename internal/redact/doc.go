// Package redact masks personal data in texts before they are stored, logged, published or shown.
//
// An insurer's error text may carry anything that was in the claim. A list of what is personal never ends, so
// [Text] keeps what is known and masks all else. It reads a text as the rule does, normalised: see
// [errtext.Normalise].
//
// # What stays
//
//   - Words of the vocabulary: technical words, those of TISS and its tables, and the Portuguese and English
//     of error messages. It is the list vocabulary.txt of the tables of errtext, which people read and edit.
//     Case and accents do not matter. A name in camel case stays if all of its parts are known.
//   - Numbers that are evidence, as errtext reads them: codes of Tabela 38, HTTP statuses, SMTP codes;
//     and measures: times, sizes. The same digits in another place do not stay.
//   - A few words of letters and digits, such as x509 and utf8.
//   - Signs between words, which say nothing by themselves.
//
// Of a long text the beginning is read, 64 KiB, and of what comes of that 8 KiB are kept.
//
// # What is masked
//
// A mark names the kind and the length of what stood there, so that texts still read and still group, such as
// [palavras] and [número longo]; mark.go has them all. People read them in their language, see
// text.Printer.Redacted. Symbols that are no signs, such as circled letters and raised digits, and control
// characters become blanks. The marks are words of the vocabulary: a second run changes nothing. A text that
// changes in every run becomes [código] as a whole.
//
// There is no decoder beyond errtext's, which reads entities, JSON escapes, full-width letters and Latin-1.
// What is escaped for a URL, in base64, or in another script is no known word, and so it is masked.
//
// # Names that are words
//
// People are called Dias, Campos and Branco. Such words of the vocabulary stand in
// internal/retry/errtext/tables/roles.tsv with the role name. They are masked
//
//   - next to an unknown word, also with a short word between: João Dias, Rita de Campos;
//   - next to another word of the list, if both begin with a capital: Dias Campos;
//   - behind a word for a person or a name, with at most short words or another name between: paciente dias,
//     <nome>CAMPOS, o titular é Dias.
//
// Three single letters in a row are masked too: J O S E.
//
// # Limits
//
//   - A name of words of the vocabulary that are not on the list survives. So does one of the list
//     alone, where no word for a person stands before it: "alta de Dias".
//   - The vocabulary has the terms of Tabela 38. They name procedures and kinds of care: parto, psicoterapia,
//     angioplastia. A text that keeps them shows what a claim was about, but not whose it is.
//   - Words that say something only together stay: "mulher", a city's words (Porta Norte), a host of known
//     words.
//   - Zero, one, two, three and "quatro" are known as words. A number in words loses its other digits.
//   - Initials next to a masked name may stay: [palavra] A. B. [palavra].
//   - The claim's id is not masked. It is personal data, see docs/audit.md.
//   - What is no personal data goes as well, unless it is in the vocabulary: products, hosts, ports,
//     identifiers, amounts, dates.
//
// So a redacted text is still to be treated with care; it is far less personal, not anonymous.
//
// The package is pure: no clock, no files, no state.
package redact
