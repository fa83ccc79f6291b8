// Package errtext reads an error text once and finds what it says: what stands in it (codes of glosas, of
// HTTP and SMTP, fault codes of SOAP, classes of exceptions, words of people and programs), of what each
// thing is said, and how. Rules ask for that evidence ([Condition]); explanations name it; redaction keeps
// it.
//
// A text is normalised, cut into words and numbers, and phrases are found by looking each word up once. What
// is known is data: the tables in the folder tables, which people read and edit.
//
// What a number means depends on the words around it: 1308 is a glosa in codigoGlosa and beside the words of
// its own term, 503 is a status behind HTTP. A number that nothing speaks for is none of them.
//
// What a phrase counts depends on what it is said of: "indisponível" passes by itself if it is said of a
// system, and says nothing if it is said of a card; "cancelada" refuses if it is said of a card. What belongs
// to the hospital's own access (login, certificate, address, settings) beside a word of trouble is the
// hospital's own fault, whatever stands between. Each piece of evidence gets one weight, and a refusal counts
// only if it weighs more than all that passes by itself: a doubt is retried.
//
// The package is pure: no clock, no files, no settings.
package errtext
