package redact

// validCPF checks the two check digits of an 11-digit CPF. One digit eleven times passes the arithmetic, but is a
// placeholder.
func validCPF(d []byte) bool {
	const weights = 10
	return !repeated(d) && mod11(d[:9], weights) == d[9] && mod11(d[:10], weights) == d[10]
}

// validCNPJ checks the two check digits of a CNPJ. Since July 2026 the first twelve places may also hold capital
// letters, each worth its ASCII code less 48.
func validCNPJ(d []byte) bool {
	const weights = 8
	return len(d) == 14 && !repeated(d) && mod11(d[:12], weights) == d[12] && mod11(d[:13], weights) == d[13]
}

// mod11 returns the check digit after d. From the right the weights are 2, 3 and so on; after that many they begin again.
func mod11(d []byte, weights int) byte {
	sum := 0
	for i := range d {
		sum += int(d[len(d)-1-i]-'0') * (2 + i%weights)
	}
	if rest := sum % 11; rest >= 2 {
		return byte('0' + 11 - rest)
	}
	return '0'
}

// validCNS checks the card of the public health system: 15 digits, the first one of 1, 2 (permanent), 7, 8, 9
// (provisional), their sum weighted 15 down to 1 a multiple of 11.
func validCNS(d []byte) bool {
	switch d[0] {
	case '1', '2', '7', '8', '9':
	default:
		return false
	}
	sum := 0
	for i, c := range d {
		sum += int(c-'0') * (15 - i)
	}
	return sum%11 == 0 && !repeated(d)
}

func repeated(d []byte) bool {
	for _, c := range d[1:] {
		if c != d[0] {
			return false
		}
	}
	return true
}

// validCard checks length, the issuer's prefix and the Luhn digit of a payment card.
func validCard(d []byte) bool {
	return issued(len(d), int(d[0]-'0')*1000+int(d[1]-'0')*100+int(d[2]-'0')*10+int(d[3]-'0')) && luhn(d) && !repeated(d)
}

// issued reports whether cards of n digits begin with these four.
func issued(n, prefix int) bool {
	within := func(low, high int) bool { return low <= prefix && prefix <= high }
	switch {
	case within(4000, 4999): // Visa, and the Elo cards among them
		return n == 13 || n == 16 || n == 19
	case within(5100, 5599), within(2221, 2720): // Mastercard
		return n == 16
	case within(3400, 3499), within(3700, 3799): // American Express
		return n == 15
	case within(3000, 3059), within(3600, 3699), within(3800, 3840), within(3842, 3999): // Diners
		return n == 14 || n == 16
	case prefix == 3841: // Hipercard
		return n == 13 || n == 14 || n == 16 || n == 19
	case within(3528, 3589): // JCB
		return n == 16
	case within(5000, 5099), within(5600, 5899): // Elo, Aura, Maestro
		return n == 16 || n == 19
	case within(6000, 6999): // Discover, Elo, Hipercard, UnionPay, Maestro
		return n == 16 || n == 19
	}
	return false
}

func luhn(d []byte) bool {
	sum := 0
	for i := range d {
		v := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0
}

// Zeebe's keys are the partition's number times 2^51 plus a counter, so those of partitions 1 to 3 have 16 digits and
// begin with 2251, 4503 and 6755, like cards of Mastercard, Visa and Maestro, and every tenth has the right Luhn digit.
// The counter has to be small for a key, 2^34 being years of work, and with that only one card in a hundred thousand
// looks like a key. Written in groups, or after a word for card, that one is a card too.
const (
	keyBits     = 51
	keyCounters = 1 << 34
)

func looksLikeKey(d []byte) bool {
	var v uint64
	for _, c := range d {
		v = v*10 + uint64(c-'0')
	}
	return len(d) < maxDigits && v >= 1<<keyBits && v&(1<<keyBits-1) < keyCounters
}
