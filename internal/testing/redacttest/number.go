package redacttest

import (
	"iter"
	"math/rand/v2"
	"strings"
)

func (m maker) digits(n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte("0123456789"[m.IntN(10)])
	}
	return b.String()
}

// validCPF returns eleven digits, the last two of them right.
func (m maker) validCPF() string {
	d := m.digits(9)
	d += check11(d, 10, 9, 8, 7, 6, 5, 4, 3, 2)
	return d + check11(d, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2)
}

// validCNPJ returns fourteen digits, the last two of them right.
func (m maker) validCNPJ() string {
	d := m.digits(8) + one(m, "0001", "0002", "0013")
	d += check11(d, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)
	return d + check11(d, 6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)
}

func check11(d string, weights ...int) string {
	sum := 0
	for i, w := range weights {
		sum += int(d[i]-'0') * w
	}
	return string(rune('0' + (11-sum%11)%11%10))
}

// validCNS returns fifteen digits whose weighted sum is a multiple of eleven.
func (m maker) validCNS() string {
	for {
		d := one(m, "1", "2", "7", "8", "9") + m.digits(14)
		sum := 0
		for i := range d {
			sum += int(d[i]-'0') * (15 - i)
		}
		if sum%11 == 0 {
			return d
		}
	}
}

// validCard returns a number with an issuer's prefix, that issuer's length and the right Luhn digit.
func (m maker) validCard() string {
	prefix, n := one(m, "4", "51", "55", "2221", "2720", "34", "37", "6011", "65", "3528", "5067", "6062", "636368", "627780"), 16
	if prefix == "34" || prefix == "37" {
		n = 15
	}
	d := prefix + m.digits(n-1-len(prefix))
	sum := 0
	for i := range d {
		v := int(d[len(d)-1-i] - '0')
		if i%2 == 0 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return d + string(rune('0'+(10-sum%10)%10))
}

// Numbers yields, without end, bare numbers with right check digits. It knows the kinds CPF, CNS, CNPJ and Card, and
// yields nothing of the others.
func Numbers(kind Kind, seed uint64) iter.Seq[string] {
	m := maker{rand.New(rand.NewPCG(seed, 3))}
	next := map[Kind]func() string{CPF: m.validCPF, CNS: m.validCNS, CNPJ: m.validCNPJ, Card: m.validCard}[kind]
	return func(yield func(string) bool) {
		for more := next != nil; more; {
			more = yield(next())
		}
	}
}
