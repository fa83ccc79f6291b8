package text

import (
	"fmt"
	"maps"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message/catalog"
)

// areas are the tables of the catalogue, Portuguese by English. Each area of the code has its own.
var areas = []map[string]string{timeTexts, historyTexts, decisionTexts, answerTexts, settingTexts, claimTexts}

// texts returns the texts of all tables.
func texts() map[string]string {
	all := map[string]string{}
	for _, area := range areas {
		maps.Copy(all, area)
	}
	return all
}

// counted is a text with a number as its first argument, whose words depend on whether that is 1.
type counted struct{ one, um, muitos string }

// counts are the texts that count, by the English plural.
var counts = map[string]counted{
	"%d records":     {"%d record", "%d registro", "%d registros"},
	"%d submissions": {"%d submission", "%d envio", "%d envios"},
	"%d retries":     {"%d retry", "%d retentativa", "%d retentativas"},

	"all %d retries used": {"the %d retry used", "usada a única retentativa (%d)", "usadas todas as %d retentativas"},
}

// timeTexts are of [Printer].
var timeTexts = map[string]string{
	"Times: %s": "Horários: %s",
}

// catalogue returns the texts in all languages.
var catalogue = sync.OnceValue(func() catalog.Catalog {
	b := catalog.NewBuilder(catalog.Fallback(language.English))
	set := func(tag language.Tag, key string, m catalog.Message) {
		if err := b.Set(tag, key, m); err != nil {
			panic(fmt.Sprintf("text: %q: %v", key, err)) // a mistake in the tables
		}
	}
	portuguese := Portuguese.tag()
	for key, text := range texts() {
		set(portuguese, key, catalog.String(text))
	}
	for key, c := range counts {
		set(language.English, key, plural.Selectf(1, "%d", "=1", c.one, plural.Other, key))
		set(portuguese, key, plural.Selectf(1, "%d", "=1", c.um, plural.Other, c.muitos))
	}
	return b
})
