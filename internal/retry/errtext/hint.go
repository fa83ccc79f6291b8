package errtext

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// reading is what a text says of a time, as far as it is read. What it does not say is zero.
type reading struct {
	*Text
	now     time.Time
	from    time.Time // what was read before the day: the beginning of a range
	day     time.Time
	minute  int // of the day
	isTimed bool
	zone    *time.Location
	span    time.Duration // from now on
	last    string        // the kind of the last part of the time
	how     string        // what stands before a number: "within" 8 hours, "at" 8 hours, "" for other words
	number  int           // one whose meaning stands behind it, -1 for none
	unit    time.Duration // of a field's value, a second where its name has none: retryAfterMs
	value   time.Duration // of a field: retry_after=300
	month   int           // one that stands before its day
}

// layouts are how days and times are written, by the sign between their numbers.
var layouts = map[string][]string{
	"/": {"2/1/2006", "2/1/06", "2/1"},
	"-": {"2006-1-2", "2-1-2006", "2-1-06"},
	".": {"2.1.2006"},
	":": {"15:04:05", "15:04"},
	"h": {"15h04"},
	"H": {"15H04"},
}

// longest is what a hint may be away.
const longest = 7 * 24 * time.Hour

// Hint returns the time for trying again that the text names: a time from now on ("aguarde 40 minutos"), or a
// time of the day behind a word that announces one ("até 25/11/2026 06:00", "retorno 14h30"), of a range
// ("das 22h às 04h") its end. The first sentence that names one counts. Without a zone it is in that of now.
// Both are zero where the text names none.
func (t *Text) Hint(now time.Time) (after time.Duration, until time.Time) {
	for i := 0; i < len(t.Tokens); i++ {
		if t.announces(i) {
			r := reading{Text: t, now: now, zone: now.Location(), how: "when", number: -1, unit: time.Second}
			if kind, days, _ := t.timeWord(i); kind == "ahead" || kind == "within" { // amanhã às 8h, em 2h
				r.take(kind, days)
			}
			i = r.read(i+1) - 1
			if after = cmp.Or(r.span, r.value); after > 0 {
				return after, time.Time{}
			}
			if until = r.until(); r.isTimed && until.After(now) { // one that has come says nothing
				return 0, until
			}
		}
	}
	return 0, time.Time{}
}

// announces reports whether a word announces a time. Behind some it does not: não estava disponível às 10:02,
// timeout aguardando retorno.
func (t *Text) announces(i int) bool {
	const most = 6
	if t.Tokens[i].roles&roleWhen == 0 {
		return false
	}
	isWeak := t.Tokens[i].roles&roleOf != 0 // de segunda a sexta, das 8h às 18h
	for k := i - 1; k >= max(0, i-most) && (t.Tokens[k+1].gap < apart || isWeak); k-- {
		if kind, reach, _ := t.timeWord(k); kind == "not" && i-k <= reach {
			return false
		}
	}
	return true
}

// timeWord returns what a word is in a time, or the longest phrase that begins with it, and the token behind.
// In the table times the code of a unit is its milliseconds, of a clock its minutes, of a zone its minutes
// east, of a "not" how many words behind it announce no time. The day of "dia 28" is of a month that is not
// named: 0.
func (t *Text) timeWord(i int) (kind string, value, next int) {
	const longest = 3
	next = i + 1
	does := t.Tokens[i].roles
	for last := i; does&roleTime != 0 && last < min(i+longest, len(t.Tokens)); last++ {
		if row, is := t.known.times[hashOf(t.Source[t.Tokens[i].Start:t.Tokens[last].End])]; is {
			kind, next = row.Sign, last+1
			value, _ = strconv.Atoi(row.Code)
		}
	}
	switch {
	case kind != "":
	case does&roleWithin != 0:
		kind = "within"
	case does&roleWhen != 0:
		kind = "when"
	case does&(roleFill|roleApart) != 0:
		kind = "fill"
	}
	return kind, value, next
}

// read reads on from a token to the end of the sentence, or to where it speaks of something else, and returns
// the token there.
func (r *reading) read(i int) int {
	for i < len(r.Tokens) && r.Tokens[i].gap != sentenceEnd {
		kind, value, next := r.part(i)
		if kind == "not" || kind == "" && r.last != "" {
			return next
		}
		r.take(kind, value)
		i = next
	}
	return i
}

// part reads a word, a day, a time of it, a zone or a number, and returns the token behind it.
func (r *reading) part(i int) (kind string, value, next int) {
	if !r.Tokens[i].IsNumber {
		return r.timeWord(i)
	}
	word, rest := r.word(i), r.Source[r.Tokens[i].Start:]
	sign, run := rest[len(word):min(len(word)+1, len(rest))], word
	if sign != "" && layouts[sign] != nil {
		signs := "." + sign // 06:00:00.000
		run = strings.TrimRight(rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"+signs))], signs)
	}
	for next = i + 1; next < len(r.Tokens) && int(r.Tokens[next].Start-r.Tokens[i].Start) < len(run); {
		next++
	}
	east := strings.TrimLeft(r.between(i-1, i), " (") // -0300, GMT-3, but 06:00-08:00 is a range
	if (r.last == "zone" || r.last == "exact") && (east == "-" || east == "+") {
		hours, _ := strconv.Atoi(east + word[:min(len(word), 2)])
		return "zone", hours * 60, next
	}
	n, _ := strconv.Atoi(word)
	if at := time.Unix(int64(n), 0).In(r.now.Location()); at.Sub(r.now).Abs() < longest { // X-RateLimit-Reset
		r.day = at
		return "exact", at.Hour()*60 + at.Minute(), next
	}
	for _, layout := range layouts[sign] {
		at, err := time.Parse(layout, run)
		minutes := at.Hour()*60 + at.Minute()
		switch {
		case err != nil:
		case !strings.HasPrefix(layout, "15"):
			r.from, r.day = r.until(), r.nearest(at.Year(), int(at.Month()), at.Day())
			return "day", 0, next
		case r.how == "within" && (sign != ":" || strings.HasPrefix(run, "00:")): // em 1h30, 00:02:30
			return "span", (minutes*60 + at.Second()) * 1000, next
		case layout == "15:04:05", r.Tokens[i].IsJoined(): // T06:00
			return "exact", minutes, next
		default:
			return "clock", minutes, next
		}
	}
	if run != word {
		return "not", 0, next
	}
	// retry_after=300, but not aguarde: 3 guias
	isLast := next == len(r.Tokens) || r.Tokens[next].gap >= apart
	if isLast && r.how == "within" && strings.ContainsAny(r.between(i-1, i), "=:") {
		r.value = time.Duration(n) * r.unit
	}
	return "number", n, next
}

// take notes what a word or a number says of the time.
func (r *reading) take(kind string, value int) {
	number := r.number
	if kind == "unit" || kind == "h" {
		kind, value = r.measure(kind, value)
	}
	switch kind {
	case "fill":
		return
	case "", "at", "when", "within":
		r.how, r.number = kind, -1
		return
	case "number":
		if number >= 20 && number%10 == 0 && value < 10 { // vinte e cinco
			value += number
		}
		if r.number = value; r.last == "month" {
			r.day, r.last = r.nearest(0, r.month, value), "day"
		}
		return
	case "span":
		r.span += time.Duration(value) * time.Millisecond
	case "month":
		if r.month = value; number > 0 {
			r.day, kind = r.nearest(0, r.month, number), "day"
		}
	case "weekday":
		if r.last != "day" { // 30/11 (segunda-feira)
			r.day = r.now.AddDate(0, 0, (value-int(r.now.Weekday())+7)%7)
		}
		kind = "day"
	case "ahead":
		r.day, kind = r.now.AddDate(0, 0, value), "day"
	case "clock", "exact":
		if value < r.minute && !r.day.IsZero() && r.last != "day" {
			r.day = r.day.AddDate(0, 0, 1) // 25/11 das 22h às 4h
		}
		r.minute, r.isTimed, r.span = value, true, 0 // das 22h às 4h
	case "half":
		if number > 0 { // 6 da manhã
			r.take("clock", number*60)
		}
		r.minute = r.minute%(12*60) + value
	case "zone":
		r.zone = time.FixedZone("", value*60)
	}
	r.last, r.how, r.number = kind, "", -1
}

// measure returns what the number is with a unit behind it: a time of the day, às 8 horas, até 8h, or one
// from now on, em 8h.
func (r *reading) measure(unit string, size int) (kind string, value int) {
	const hour, day = 60 * 60 * 1000, 24
	switch n := r.number; {
	case n < 0 && r.how == "within": // retry_after_minutes
		r.unit = time.Duration(size) * time.Millisecond
		return "fill", 0
	case n < 0, n > int(longest.Milliseconds())/size, r.how == "" && r.last == "": // 18:00h, há 2h
		return "fill", 0
	case size == hour && n < day && (r.how == "at" || r.how == "" && r.last == "day" ||
		unit == "h" && r.how != "within"): // às 18 horas; 27/11, 18 horas; até 18h
		return "clock", n * 60
	default:
		return "span", n * size
	}
}

// nearest returns a day: without its year, or its month, the one that is nearest to now. It is zero for a day
// that is none.
func (r *reading) nearest(year, month, day int) (best time.Time) {
	for away := -1; away <= 1; away++ {
		y, m := cmp.Or(year, r.now.Year()+away), month
		if m == 0 {
			y, m = r.now.Year(), int(r.now.Month())+away
		}
		at := time.Date(y, time.Month(m), day, 12, 0, 0, 0, r.now.Location())
		if at.Day() == day && (best.IsZero() || at.Sub(r.now).Abs() < best.Sub(r.now).Abs()) {
			best = at
		}
	}
	return best
}

// until returns the time, without a day the next one.
func (r *reading) until() time.Time {
	year, month, day := cmp.Or(r.day, r.now).Date()
	until := time.Date(year, month, day, 0, r.minute, 0, 0, r.zone)
	if r.day.IsZero() && !until.After(r.now) {
		return until.AddDate(0, 0, 1)
	}
	return until
}

// Windows returns the beginnings and ends of the times in which submissions are taken, as insurers name them
// beside 3091 and 3161, in a zone: "PERÍODO DE 01/12/2026 ATÉ 10/12/2026", with or without times of the day.
func (t *Text) Windows(zone *time.Location) (all [][2]time.Time) {
	isDeadline := func(k Token) bool {
		code := t.Source[k.Start:k.End]
		return code == "3091" || code == "3161"
	}
	for i := range t.Pieces {
		p := &t.Pieces[i]
		if p.sign != window || !slices.ContainsFunc(t.Tokens, isDeadline) {
			continue
		}
		r := reading{Text: t, now: time.Time{}.In(zone), zone: zone, number: -1}
		r.read(int(p.last))
		if end := r.until(); r.from.Year() > 1 && !end.Before(r.from) {
			all = append(all, [2]time.Time{r.from, end})
		}
	}
	return all
}

// RetryAfter returns what stands behind each Retry-After, a number of seconds or a date, as programs log it:
// a line, JSON, a header map of Go, Java, Python or Ruby. A number with a unit is left to
// [Text.Hint].
func (t *Text) RetryAfter() (all []string) {
	for i := range t.Pieces {
		p := &t.Pieces[i]
		if p.sign != retryAfter {
			continue
		}
		rest := t.Source[p.End:]
		value := strings.TrimLeft(rest, `"' =:>[,`)
		if !strings.ContainsAny(rest[:len(rest)-len(value)], "=:,") || value == "" {
			continue
		}
		const httpDate = len("Sun, 12 Jan 2025 11:00:00 GMT")
		end := min(httpDate, len(value))
		if kinds[value[0]] == digit {
			end = len(value) - len(strings.TrimLeft(value, "0123456789.-:+TZ"))
			behind := strings.TrimLeft(value[end:], " ")
			more := strings.TrimLeftFunc(behind, unicode.IsLetter)
			if more != behind && !strings.HasPrefix(more, "=") { // 3 attempts, but not 30 status=503
				continue
			}
		}
		all = append(all, value[:end])
	}
	return all
}
