package config

import (
	"errors"
	"io/fs"
	"os"
	"reflect"
	"strings"

	"hospital.example/analyze-retry/internal/readfile"
)

// largestSecret is far above a URL or a secret, in bytes; a larger file is another one than was meant.
const largestSecret = 64 << 10

// fileVariable returns the variable that names a file with the value of a setting: NAME_FILE for those that hold a secret, ""
// for the others.
func fileVariable(field reflect.StructField) string {
	if field.Type == reflect.TypeFor[Secret]() || field.Type == reflect.TypeFor[URL]() {
		return field.Tag.Get("envconfig") + "_FILE"
	}
	return ""
}

// readSecret returns what a file holds, without the line break at its end, and its mode. Its errors name neither the path,
// which may be the secret itself by mistake, nor what the file holds.
func readSecret(path string) (string, fs.FileMode, error) {
	content, mode, err := readfile.Read(path, largestSecret)
	if err != nil {
		return "", 0, withoutPath(err)
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	switch {
	case text == "":
		return "", 0, errors.New("it is empty")
	case strings.ContainsAny(text, "\r\n\x00"):
		return "", 0, errors.New("it holds more than one line, or is no text")
	}
	return text, mode, nil
}

func withoutPath(err error) error {
	if fault, ok := errors.AsType[*fs.PathError](err); ok {
		return fault.Err
	}
	return err
}

// warnExposed warns of a file with a secret that others than its owner and group can read, or its group can change. It is
// no fault: the file may be on a mount whose modes nobody here can change.
func (c *Config) warnExposed(what, path string, mode fs.FileMode) {
	if err := readfile.CheckMode(path, mode); err != nil {
		c.warnings = append(c.warnings, what+": "+err.Error())
	}
}

// warnExposedKey does so for the file of a key, if there is one.
func (c *Config) warnExposedKey(name, path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		c.warnExposed(name, path, info.Mode())
	}
}
