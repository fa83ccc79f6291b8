package errtext

import (
	"strconv"
	"strings"
	"time"
)

// moment is a time as a text names it; a year or a day that is not named is 0.
type moment struct {
	year, month, day, hour, minute int
	tomorrow                       bool
}

// furthest is how many words lie at most between a word that announces a time, and the time.
const furthest = 12

// Hint returns the time for trying again that the text names: a time from now on ("aguarde 40 minutos"), or a
// time of the day behind a word that announces one ("até 25/11/2026 06:00", "retorno 14h30"), of several
// ("das 22h às 04h") the last. Without a zone it is in that of now. Both are zero where it names none.
func (t *Text) Hint(now time.Time) (after time.Duration, until time.Time) {
	announced, named := -1, moment{} // announced is the word that does
	for i := range t.Tokens {
		k := &t.Tokens[i]
		isNewLine := i == 0 || strings.HasPrefix(t.between(i-1, i), "\n")
		if k.gap == sentenceEnd && !isNewLine && named == (moment{}) {
			announced = -1
		}
		if !k.IsNumber {
			isTimeout := strings.HasPrefix(t.behind(i), " timeout") // lock wait timeout
			if k.roles&roleWhen != 0 && !isTimeout && !t.isDenied(i) {
				announced = i
			}
			continue
		}
		if k.place != prose || announced < 0 || i-announced > furthest {
			continue
		}
		if after = t.duration(i); after > 0 && named == (moment{}) {
			return after, time.Time{}
		}
		if until = t.instant(i); !until.IsZero() {
			return 0, until
		}
		if hour, minute, is := t.clock(i); is {
			if t.isElsewhere(i) {
				return 0, time.Time{}
			}
			year, month, day := t.dayBefore(i)
			if day == 0 && t.isLogged(i) {
				continue
			}
			if day == 0 {
				year, month, day = named.year, named.month, named.day
			}
			named, announced = moment{year, month, day, hour, minute, t.isTomorrow(i)}, i
		}
	}
	if named == (moment{}) {
		return 0, time.Time{}
	}
	return 0, named.after(now)
}

// after returns the moment: without a day the next such time of the day, without a year that in the year that
// is nearest.
func (m moment) after(now time.Time) time.Time {
	if m.day == 0 {
		year, month, day := now.Date()
		until := moment{year, int(month), day, m.hour, m.minute, false}.in(now.Location())
		if m.tomorrow || !until.After(now) {
			until = until.AddDate(0, 0, 1)
		}
		return until
	}
	if m.year == 0 {
		const halfAYear = 183 * 24 * time.Hour
		m.year = now.Year()
		switch away := m.in(now.Location()).Sub(now); {
		case away < -halfAYear:
			m.year++
		case away > halfAYear:
			m.year--
		}
	}
	return m.in(now.Location())
}

// in returns the moment in a zone, the zero time for a day that is none.
func (m moment) in(zone *time.Location) time.Time {
	midday := time.Date(m.year, time.Month(m.month), m.day, 12, 0, 0, 0, zone)
	if midday.Day() != m.day || int(midday.Month()) != m.month || m.year > 9999 {
		return time.Time{}
	}
	return time.Date(m.year, time.Month(m.month), m.day, m.hour, m.minute, 0, 0, zone)
}

// instant reads a time with its zone that begins with a number: 2026-11-25T06:00:00-03:00.
func (t *Text) instant(i int) time.Time {
	text := t.Source[t.Tokens[i].Start:]
	const longest = len("2026-11-25T06:00:00.000000000-03:00")
	text = text[:min(len(text), longest+1)]
	until, _ := time.Parse(time.RFC3339, strings.TrimRight(text[:timeLength(text)], ".:"))
	return until.UTC()
}

// timeLength returns the length of what a text begins with that may be a time, or a number.
func timeLength(text string) int { return len(text) - len(strings.TrimLeft(text, "0123456789.-:+TZ")) }

// units are the lengths of the words for a time.
var units = map[string]time.Duration{
	"s": time.Second, "seg": time.Second, "segundo": time.Second, "second": time.Second, "sec": time.Second,
	"min": time.Minute, "minuto": time.Minute, "minute": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hora": time.Hour, "hour": time.Hour,
}

// duration returns the time that a number and its unit name, behind a word that announces a time from now on:
// aguarde 60 s, tente em 40 minutos; 0 for none, and for more than a week.
func (t *Text) duration(i int) time.Duration {
	const longest, nearby = 7 * 24 * time.Hour, 4
	if i == 0 || i+1 >= len(t.Tokens) || goesOnLeft(t.before(i)) {
		return 0
	}
	if strings.Trim(t.between(i, i+1), " ") != "" {
		return 0
	}
	unit := strings.ToLower(t.word(i + 1))
	span := max(units[unit], units[strings.TrimSuffix(unit, "s")])
	n, err := strconv.Atoi(t.word(i))
	if err != nil || n > int(longest/time.Second) || time.Duration(n)*span > longest {
		return 0
	}
	const few = 6 // hours: what is not a time of the day
	if strings.HasPrefix(unit, "hora") && n <= few && t.between(i-1, i) == ": " {
		return time.Duration(n) * span // previsão: 2 horas
	}
	for k := i - 1; k >= max(0, i-nearby) && t.Tokens[k+1].gap < sentenceEnd; k-- {
		switch does := t.Tokens[k].roles; {
		case does&roleWithin != 0 && (t.isDenied(k) || k > 0 && strings.EqualFold(t.word(k-1), "out")):
			return 0 // timed out after
		case does&roleWithin != 0:
			return time.Duration(n) * span
		case does&(roleStop|roleFill) == 0:
			return 0
		case strings.EqualFold(t.word(k), "às"), strings.EqualFold(t.word(k), "as"): // a time of the day
			return 0
		}
	}
	return 0
}

// clock reads 14h, 14h30, 14:30 and 14:30:00.
func (t *Text) clock(i int) (hour, minute int, is bool) {
	hour, is = t.small(i, 24)
	if !is || i+1 >= len(t.Tokens) || i > 0 && (t.between(i-1, i) == ":" || t.between(i-1, i) == "/") {
		return 0, 0, false
	}
	switch unit := strings.ToLower(t.word(i + 1)); {
	case t.between(i, i+1) == ":" && len(t.word(i+1)) == 2:
		minute, is = t.small(i+1, 59)
		return hour, minute, is
	case unit == "h" || unit == "hs" || unit == "hrs" || unit == "horas":
		if i+2 < len(t.Tokens) && t.Tokens[i+2].IsJoined {
			minute, _ = t.small(i+2, 59)
		}
		return hour, minute, true
	}
	return 0, 0, false
}

// small returns a number of at most two digits, up to most.
func (t *Text) small(i, most int) (n int, is bool) {
	if i < 0 || i >= len(t.Tokens) || !t.Tokens[i].IsNumber || len(t.word(i)) > 2 {
		return 0, false
	}
	n, err := strconv.Atoi(t.word(i))
	return n, err == nil && n <= most
}

// isDenied reports whether a word that announces a time does not: não respondeu dentro de, not available. Up
// to when something is not there, "até", is a time all the same.
func (t *Text) isDenied(i int) bool {
	const nearby = 2
	switch strings.ToLower(t.word(i)) {
	case "até", "ate", "until":
		return false
	}
	for k := i - 1; k >= max(0, i-nearby) && t.Tokens[k+1].gap < apart; k-- {
		switch strings.ToLower(t.word(k)) {
		case "não", "nao", "not":
			return true
		}
	}
	return false
}

// isLogged reports whether a time of the day has seconds, 10:02:33, as the lines of programs have.
func (t *Text) isLogged(i int) bool {
	return i+2 < len(t.Tokens) && t.between(i+1, i+2) == ":" && t.Tokens[i+2].IsNumber && t.word(i+2) != "00"
}

// isElsewhere reports whether a time of the day is one of another zone, 06:00 UTC, or of a day without its
// month, dia 28 às 6h. Such a time is not guessed.
func (t *Text) isElsewhere(i int) bool {
	const nearby = 3
	for k := i + 1; k <= min(i+nearby, len(t.Tokens)-1); k++ {
		if zone := t.word(k); strings.EqualFold(zone, "utc") || strings.EqualFold(zone, "gmt") {
			return true
		}
	}
	for k := i - 1; k >= max(1, i-nearby); k-- {
		isDay := t.Tokens[k].IsNumber && strings.EqualFold(t.word(k-1), "dia")
		if isDay && !strings.HasPrefix(t.behind(k), "/") {
			return true
		}
	}
	return false
}

// isTomorrow reports whether "amanhã" stands before a time of the day.
func (t *Text) isTomorrow(i int) bool {
	const nearby = 2
	for k := i - 1; k >= max(0, i-nearby); k-- {
		if word := strings.ToLower(t.word(k)); word == "amanhã" || word == "amanha" || word == "tomorrow" {
			return true
		}
	}
	return false
}

// dayBefore returns the day that stands before a time of the day, 0 for none: 25/11/2026, 25/11 às,
// 2026-11-25T.
func (t *Text) dayBefore(i int) (year, month, day int) {
	const between = 3 // words
	last := i - 1
	for last >= 0 && i-last <= between && !t.Tokens[last].IsNumber {
		last--
	}
	first := last
	for first > 0 && last-first < 2 && t.Tokens[first-1].IsNumber {
		if sign := t.between(first-1, first); sign != "/" && sign != "-" {
			break
		}
		first--
	}
	year, month, day, _ = t.date(max(first, 0))
	return year, month, day
}

// date reads the day that begins with a token, 25/11/2026, 25/11/26, 25/11 or 2026-11-25, and returns the
// token behind it; day is 0 for none.
func (t *Text) date(i int) (year, month, day, next int) {
	var parts []int
	for k := i; k < len(t.Tokens) && len(parts) < 3 && t.Tokens[k].IsNumber; k++ {
		if k > i && t.between(k-1, k) != "/" && t.between(k-1, k) != "-" {
			break
		}
		n, _ := strconv.Atoi(t.word(k))
		parts = append(parts, n)
	}
	next = i + len(parts)
	switch {
	case len(parts) < 2:
		return 0, 0, 0, i
	case len(parts) == 2:
		year, month, day = 0, parts[1], parts[0]
	case len(t.word(i)) == 4:
		year, month, day = parts[0], parts[1], parts[2]
	default:
		year, month, day = parts[2], parts[1], parts[0]
	}
	if year > 0 && year < 100 {
		year += 2000
	}
	return year, month, day, next
}

// Windows returns the beginnings and ends of the times in which submissions are taken, as insurers name them
// beside 3091 and 3161, in a zone: "PERÍODO DE 01/12/2026 ATÉ 10/12/2026", with or without times of the day.
func (t *Text) Windows(zone *time.Location) (all [][2]time.Time) {
	for i := range t.Pieces {
		p := &t.Pieces[i]
		if p.sign != window || !t.namesDeadline() {
			continue
		}
		begin, next := t.moment(int(p.last), zone)
		end, _ := t.moment(next+1, zone) // behind a word: até, a
		if !begin.IsZero() && !end.IsZero() && !end.Before(begin) {
			all = append(all, [2]time.Time{begin, end})
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

// moment reads a day and, if one follows, a time of it, and returns the token behind it.
func (t *Text) moment(i int, zone *time.Location) (at time.Time, next int) {
	m := moment{}
	m.year, m.month, m.day, next = t.date(i)
	if hour, minute, is := t.clock(next); is {
		m.hour, m.minute = hour, minute
		next++
		for next < len(t.Tokens) && t.between(next-1, next) == ":" {
			next++
		}
	}
	if m.year == 0 {
		return time.Time{}, next
	}
	return m.in(zone), next
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
		end := timeLength(value)
		unit, _, _ := strings.Cut(strings.TrimLeft(value[end:], " "), " ")
		unit = strings.ToLower(strings.TrimRight(unit, `"'],.;}`+"\r\n"))
		isOther := kinds[(unit + " ")[0]] > digit && unit != "s" && !strings.Contains(unit, "=") &&
			units[strings.TrimSuffix(unit, "s")] != time.Second
		if !isOther {
			all = append(all, strings.TrimRight(value[:end], "."))
		}
	}
	return all
}
