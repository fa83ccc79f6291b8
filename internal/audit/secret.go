package audit

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"hospital.example/analyze-retry/internal/config/readfile"
	words "hospital.example/analyze-retry/internal/text"
)

// Secret is the key of an audit store: it signs heads and cuts, so that a chain cannot be made anew without
// it, and keys the hash of a job's inputs, so that a CPF cannot be found by trying all of them. All replicas
// that share a store share its key. It never prints itself.
type Secret struct {
	private ed25519.PrivateKey
	hashes  sync.Pool // keyed ones: to key one anew costs more than to use it
}

// Public is the half of a [Secret] that can check but not sign.
type Public struct{ key ed25519.PublicKey }

const pemPrivate = "PRIVATE KEY"

// NewSecret makes a new key.
func NewSecret() (*Secret, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("audit key: %w", err)
	}
	return secretOf(private)
}

// LoadSecret reads a key from a PEM file (PKCS 8, Ed25519), as `openssl genpkey -algorithm ed25519` writes
// it.
func LoadSecret(path string) (*Secret, error) {
	parsed, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, words.Messagef("audit key %s: not a private Ed25519 key; "+
			"make one with: openssl genpkey -algorithm ed25519 -out %s", path, path)
	}
	return secretOf(private)
}

// Save writes the key to a new file, readable for its owner only.
func (s *Secret) Save(path string) error {
	der, err := x509.MarshalPKCS8PrivateKey(s.private)
	if err != nil {
		return fmt.Errorf("audit key %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		block := &pem.Block{Type: pemPrivate, Bytes: der}
		err = errors.Join(pem.Encode(f, block), f.Sync(), f.Close(), SyncDir(filepath.Dir(path)))
	}
	if err != nil {
		return fmt.Errorf("audit key %s cannot be made: %w", path, err)
	}
	return nil
}

// SyncDir makes what was made, renamed or removed in a directory last through a power cut.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) {
		err = nil // a file system that syncs no directories
	}
	return errors.Join(err, d.Close())
}

// LoadPublic reads what checks signatures from a PEM file: a public key (`openssl pkey -pubout`), or a
// private one.
func LoadPublic(path string) (Public, error) {
	parsed, err := readPEM(path)
	if err != nil {
		return Public{}, err
	}
	switch key := parsed.(type) {
	case ed25519.PublicKey:
		return Public{key}, nil
	case ed25519.PrivateKey:
		return Public{key.Public().(ed25519.PublicKey)}, nil
	default:
		return Public{}, words.Messagef("audit key %s: not an Ed25519 key", path)
	}
}

// readPEM returns the key in a file, nil where what is there is none.
func readPEM(path string) (any, error) {
	text, mode, err := readfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", words.Messagef("audit key"), err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, words.Messagef("audit key %s: not a PEM file", path)
	}
	parse := x509.ParsePKIXPublicKey
	if block.Type == pemPrivate {
		parse = x509.ParsePKCS8PrivateKey
		if readfile.Exposed(mode) {
			return nil, words.Messagef("audit key %s: it has mode %04o, "+
				"so that not only its owner and group can read it, or its group can change it; "+
				"run: chmod g-w,o= %s (a Secret of Kubernetes: defaultMode: 0440; "+
				"a secret of Docker Swarm: mode: 0440)", path, mode.Perm(), path)
		}
	}
	key, _ := parse(block.Bytes) // the caller says which kind it wants
	return key, nil
}

func secretOf(private ed25519.PrivateKey) (*Secret, error) {
	key, err := hkdf.Key(sha256.New, private.Seed(), nil, "analyze-retry keyed hashes v1", sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("audit key: %w", err)
	}
	return &Secret{private, sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}}, nil
}

// Public returns the half that checks.
func (s *Secret) Public() Public { return Public{s.private.Public().(ed25519.PublicKey)} }

// String returns the name of the key, and never the key.
func (s *Secret) String() string { return "audit key " + s.Public().ID() }

// ID is a short name of the key, for messages and for a store to know its key by.
func (p Public) ID() string {
	sum := sha256.Sum256(p.key)
	return hex.EncodeToString(sum[:8])
}

// Inputs is the keyed hash of a job's inputs: names and values in a fixed order. Without the key it reveals
// nothing; a bare hash of a text with a CPF in it could be undone by trying all CPFs.
func (s *Secret) Inputs(parts ...string) [16]byte { return s.keyed("inputs", parts...) }

// keyed is a keyed hash of texts, each with its length in front. What it is for stands first.
func (s *Secret) keyed(use string, parts ...string) (sum [16]byte) {
	b := append(make([]byte, 0, 256), use...)
	for _, part := range parts {
		b = binary.BigEndian.AppendUint32(b, uint32(len(part))) //nolint:gosec // megabytes at most
		b = append(b, part...)
	}
	mac := s.hashes.Get().(hash.Hash)
	defer s.hashes.Put(mac)
	mac.Reset()
	mac.Write(b)
	var whole [sha256.Size]byte
	copy(sum[:], mac.Sum(whole[:0]))
	return sum
}

// SealState returns what a store keeps as the row of an open claim: its state, and a keyed hash of claim and
// state, so that a row that was changed by hand, or is another claim's, makes no wrong decision.
func (s *Secret) SealState(claimID string, state *State) []byte {
	b := state.bytes()
	sum := s.keyed("claim", claimID, string(b))
	return append(b, sum[:]...)
}

// ErrRow says that the row of a claim is not what the worker wrote.
var ErrRow = errors.New("its row in the audit store was changed by hand, is another claim's, " +
	"or is damaged; worker audit verify shows what its records say")

// ReadState reads what [Secret.SealState] wrote. Without a secret it does not check the keyed hash: a person
// who may only read the store has no key, and `worker audit verify` compares the rows with the records.
func (s *Secret) ReadState(claimID string, row []byte) (state State, err error) {
	n := max(len(row)-len(Key{}.Inputs), 0)
	ok := true
	if s != nil {
		sum := s.keyed("claim", claimID, string(row[:n]))
		ok = hmac.Equal(sum[:], row[n:])
	}
	if ok {
		state, ok = readState(row[:n])
	}
	if !ok {
		return State{}, fmt.Errorf("claim %s: %w", claimID, ErrRow)
	}
	return state, nil
}
