// Package evidence reads an error text once and finds what stands in it that says something about the error: codes of glosas,
// of HTTP and of SMTP, fault codes of SOAP, classes of exceptions, and the words of people and programs for what passes by
// itself and what does not. Rules ask for that evidence ([Condition]); explanations name it; redaction keeps it.
//
// What is known is data: the tables in the folder tables, which people read and edit, each row with its source. A text is cut
// into words and numbers in one pass, whatever wraps them (XML, escaped XML, JSON, a log line), and each word is looked up once.
// So the time grows with the length of the text alone.
//
// What a number means depends on the words around it: 1308 is a glosa in codigoGlosa and before the words of its own term, 503
// is a status behind HTTP. A number that nothing speaks for is none of them.
//
// The package is pure: no clock, no files, no settings.
package evidence
