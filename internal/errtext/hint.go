package errtext

import (
	"cmp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// reading is what a text says of a time, as far as it is read. What it does not say is zero.
type reading struct {
	*Text
	now     time.Time
	from    time.Time // the time before the day, of two: the beginning of a range
	day     time.Time
	step    int // days to the next such day: 7 for a weekday
	minute  int // of the day
	isTimed bool
	zone    *time.Location
	span    time.Duration // from now on
	last    string        // the kind of the last part of the time
	how     string        // what stands before a number: "within" 8 hours, "at" 8 hours, "" for other words
	number  int           // one whose meaning stands behind it, -1 for none
	month   int           // one that stands before its day
}

// timeWords are the rows of the table times by their words: what a word or a phrase is in a time. The code of
// a unit is its seconds, of a clock its minutes, of a zone its minutes east, of a "not" how many words behind
// it announce no time.
var timeWords = sync.OnceValue(func() map[uint64]Row {
	all := map[uint64]Row{}
	for _, r := range readTable("times", mark, times).Rows {
		first, _, _ := strings.Cut(strings.NewReplacer("-", " ", ".", " ").Replace(r.Term), " ")
		all[hashOf(first)] = all[hashOf(first)] // begins a phrase
		all[hashOf(r.Term)] = r
	}
	return all
})

// layouts are how days and times are written, by the sign between their numbers.
var layouts = map[string][]string{
	"/": {"2/1/2006", "2/1/06", "2006/1/2", "2/1"},
	"-": {"2006-1-2", "2-1-2006", "2-1-06"},
	".": {"2.1.2006"},
	":": {"15:04:05", "15:04"},
	"h": {"15h04"},
	"H": {"15H04"},
}

// Hint returns the time for trying again that the text names: a time from now on ("aguarde 40 minutos"), or a
// time of the day behind a word that announces one ("até 25/11/2026 06:00", "retorno 14h30"), of a range
// ("das 22h às 04h") its end. The first sentence that names one counts. Without a zone it is in that of now.
// Both are zero where the text names none.
func (t *Text) Hint(now time.Time) (after time.Duration, until time.Time) {
	for i := 0; i < len(t.Tokens); i++ {
		if t.announces(i) {
			r := reading{Text: t, now: now, zone: now.Location(), how: "when", number: -1}
			i = r.read(i+1) - 1
			if r.span > 0 {
				return r.span, time.Time{}
			}
			if r.isTimed {
				return 0, r.until()
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
	for k := i - 1; k >= max(0, i-most) && t.Tokens[k+1].gap < apart; k-- {
		if kind, reach, _ := t.timeWord(k); kind == "not" && i-k <= reach {
			return false
		}
	}
	return true
}

// timeWord returns what a word is in a time, or the longest phrase that begins with it, and the token behind.
func (t *Text) timeWord(i int) (kind string, value, next int) {
	const longest = 3
	row, begins := timeWords()[hashOf(t.word(i))]
	next = i + 1
	for last := next; begins && last < min(i+longest, len(t.Tokens)) && t.Tokens[last].gap <= near; last++ {
		phrase := timeWords()[hashOf(t.Source[t.Tokens[i].Start:t.Tokens[last].End])]
		if phrase.Sign != "" && !t.Tokens[i].IsJoined {
			row, next = phrase, last+1
		}
	}
	value, _ = strconv.Atoi(row.Code)
	return row.Sign, value, next
}

// read reads on from a token, and returns the one where the text speaks of something else. A line, or an
// element, ends no sentence behind a word that says nothing by itself.
func (r *reading) read(i int) (next int) {
	const furthest = 8 // words between the one that announces and the time
	const fill = roleFill | roleStop | roleWhen | roleWithin | roleOf | roleIn | roleApart
	for words := 0; i < len(r.Tokens) && r.Tokens[i].place != trace; i = next {
		does, isEnd := r.Tokens[i].roles, r.Tokens[i].gap == sentenceEnd
		if isEnd && (r.roleAt(i-1)&fill == 0 || strings.Trim(r.between(i-1, i), "\": >\r\n") != "") {
			return i
		}
		kind, value, behind := r.part(i)
		switch next = behind; {
		case kind == "not":
			return next
		case r.take(kind, value, i):
		case does&fill == 0 && (r.last != "" || words == furthest):
			return i
		case does&fill == 0:
			words++
			r.how, r.number = "", -1
		case does&roleWithin != 0:
			words, r.how = 0, "within"
		case does&roleWhen != 0:
			words, r.how = 0, "when"
		}
	}
	return i
}

// part reads a word, a day, a time of it, a zone or a number, and returns the token behind it.
func (r *reading) part(i int) (kind string, value, next int) {
	if !r.Tokens[i].IsNumber {
		return r.timeWord(i)
	}
	word, rest, before := r.word(i), r.Source[r.Tokens[i].Start:], r.between(i-1, i)
	sign, run := rest[len(word):min(len(word)+1, len(rest))], word
	if layouts[sign] != nil {
		run = strings.TrimRight(rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"+sign))], sign)
	}
	for next = i + 1; next < len(r.Tokens) && int(r.Tokens[next].Start-r.Tokens[i].Start) < len(run); {
		next++
	}
	east := strings.TrimLeft(before, " (") // -0300, GMT-3, but 06:00-08:00 is a range
	isZone := r.last == "zone" || r.last == "exact" || r.last == "clock" && (before != "-" || len(word) == 4)
	if isZone && (east == "-" || east == "+") {
		hours, _ := strconv.Atoi(east + word[:min(len(word), 2)])
		return "zone", hours * 60, next
	}
	if run == word || before == "." && r.last == "exact" { // 06:00:00.000-03:00
		n, _ := strconv.Atoi(word)
		return "number", n, i + 1
	}
	for _, layout := range layouts[sign] {
		at, err := time.Parse(layout, run)
		minutes, isLogged := at.Hour()*60+at.Minute(), at.Second()%59 > 0 && r.day.IsZero()
		switch {
		case err != nil || isLogged:
		case !strings.HasPrefix(layout, "15"):
			if !r.day.IsZero() {
				r.from = r.until()
			}
			r.day, r.step = r.nearest(at.Year(), int(at.Month()), at.Day()), 0
			return "day", 0, next
		case r.how == "within" && sign != ":": // em 1h30
			return "span", minutes * 60, next
		case layout == "15:04:05", r.Tokens[i].IsJoined: // T06:00
			return "exact", minutes, next
		default:
			return "clock", minutes, next
		}
	}
	return "not", 0, next
}

// take notes what a word or a number says of the time, and reports whether it says something here.
func (r *reading) take(kind string, value, i int) bool {
	number := r.number
	switch kind {
	case "":
		return false
	case "fill":
		return true
	case "at", "when", "within":
		r.how, r.number = kind, -1
		return true
	case "number":
		if r.last == "dia" || r.last == "month" {
			r.day, r.step = r.nearest(0, r.month, value), 0
			r.last = "day"
		}
		r.number = value
		return true
	case "unit":
		r.number = -1
		return r.measure(number, value, i)
	case "span":
		r.span += time.Duration(value) * time.Second
	case "month":
		r.month = value
		if number > 0 {
			r.day, r.step = r.nearest(0, r.month, number), 0
			kind = "day"
		}
	case "weekday":
		if r.last != "day" { // 30/11 (segunda-feira)
			r.day, r.step = r.now.AddDate(0, 0, (value-int(r.now.Weekday())+7)%7), 7
		}
		kind = "day"
	case "ahead":
		r.day, r.step = r.now.AddDate(0, 0, value), 0
		kind = "day"
	case "clock", "exact":
		if r.isTimed && value < r.minute && !r.day.IsZero() && r.last != "day" {
			r.day = r.day.AddDate(0, 0, 1) // 25/11 das 22h às 4h
		}
		r.minute, r.isTimed = value, true
	case "half":
		if number > 0 && number <= 12 { // 6 da manhã
			r.take("clock", number*60, i)
		}
		r.minute = r.minute%(12*60) + value
	case "zone":
		r.zone = time.FixedZone("", value*60)
	}
	r.last, r.how, r.number = kind, "", -1
	return true
}

// measure notes a number with its unit: a time of the day, às 8h, or one from now on, em 8h.
func (r *reading) measure(n, seconds, i int) bool {
	const hour, day, few, longest = 3600, 24, 6, 7 * 24 * 3600
	isClock := n > few || r.how == "at" || len(r.word(i)) <= len("hrs") // not previsão: 2 horas
	switch {
	case n < 0:
		return r.last == "clock" || r.last == "span" // 18:00h
	case seconds == hour && n < day && r.how != "within" && isClock:
		return r.take("clock", n*60, i)
	case r.how == "" && r.last != "span", n > longest/seconds, goesOnLeft(r.before(i - 1)):
		return false
	case !r.isTimed:
		r.span += time.Duration(n*seconds) * time.Second
		r.last = "span"
	}
	return true
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
	if r.day.IsZero() {
		r.day, r.step = r.now, 1
	}
	year, month, day := r.day.Date()
	until := time.Date(year, month, day, 0, r.minute, 0, 0, r.zone)
	for r.step > 0 && !until.After(r.now) {
		until = until.AddDate(0, 0, r.step)
	}
	return until
}

// Windows returns the beginnings and ends of the times in which submissions are taken, as insurers name them
// beside 3091 and 3161, in a zone: "PERÍODO DE 01/12/2026 ATÉ 10/12/2026", with or without times of the day.
func (t *Text) Windows(zone *time.Location) (all [][2]time.Time) {
	for i := range t.Pieces {
		p := &t.Pieces[i]
		if p.sign != window || !t.namesDeadline() {
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

// namesDeadline reports whether 3091 or 3161 stands in the text.
func (t *Text) namesDeadline() bool {
	for i := range t.Tokens {
		if code := t.word(i); (code == "3091" || code == "3161") && t.alone(i) {
			return true
		}
	}
	return false
}

// RetryAfter returns what stands behind each Retry-After, a number of seconds or a date, as programs log it:
// a line, JSON, a header map of Go, Java, Python or Ruby. What counts something else than seconds is left
// out.
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
		if kinds[value[0]] != digit {
			all = append(all, value[:min(httpDate, len(value))])
			continue
		}
		end := len(value) - len(strings.TrimLeft(value, "0123456789.-:+TZ"))
		behind := strings.TrimLeft(value[end:], " ")
		unit := behind[:len(behind)-len(strings.TrimLeftFunc(behind, unicode.IsLetter))]
		row, isName := timeWords()[hashOf(unit)], strings.HasPrefix(behind[len(unit):], "=") // status=503
		if unit == "" || isName || row.Sign == "unit" && row.Code == "1" {
			all = append(all, strings.TrimRight(value[:end], "."))
		}
	}
	return all
}
