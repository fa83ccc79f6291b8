package config

import (
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
)

// largestSecret is far above a URL or a secret; a larger file is another one than was meant.
const largestSecret = 64 << 10

// fileVariable is the variable that names a file with the value of a setting: NAME_FILE for those that hold a secret, "" for
// the others.
func fileVariable(field reflect.StructField) string {
	if field.Type == reflect.TypeFor[Secret]() || field.Type == reflect.TypeFor[URL]() {
		return field.Tag.Get("envconfig") + "_FILE"
	}
	return ""
}

// readSecret returns what a file holds, without the line break at its end. Its errors name neither the path, which may be
// the secret itself by mistake, nor what the file holds.
func readSecret(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", withoutPath(err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, largestSecret+1))
	if err != nil {
		return "", withoutPath(err)
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	switch {
	case len(content) > largestSecret:
		return "", errors.New("it is larger than 64 KiB")
	case text == "":
		return "", errors.New("it is empty")
	case strings.ContainsAny(text, "\r\n\x00"):
		return "", errors.New("it holds more than one line, or is no text")
	}
	return text, nil
}

func withoutPath(err error) error {
	if fault, ok := errors.AsType[*os.PathError](err); ok {
		return fault.Err
	}
	return err
}
