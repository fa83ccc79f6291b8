package text_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/text"
)

func TestAnErrorIsWordedAsFarAsItIsKnown(t *testing.T) {
	_, missing := os.Stat("none.db")
	key := text.Messagef("audit key")
	var none error
	for want, err := range map[string]error{
		"none.db: não existe":                                    missing,
		"chave de auditoria: none.db: não existe":                fmt.Errorf("%w: %w", key, missing),
		"pg: chave de auditoria":                                 fmt.Errorf("pg: %w", key),
		"chave de auditoria\nx: sem permissão":                   errors.Join(key, &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}),
		"%!w(<nil>)":                                             fmt.Errorf("%w", none),
		"FATAL: 100 % of the connections":                        errors.New("FATAL: 100 % of the connections"),
		"none.db: não existe: indique outro diretório ou mova-o": text.Messagef("%s: name another directory, or move it away", missing),
	} {
		check.Same(t, want, text.In(text.Portuguese).Error(err), "%v", err)
	}
	check.Same(t, "none.db: no such file or directory", text.In(text.English).Error(missing), "in English")
}
