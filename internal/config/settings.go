package config

import (
	"fmt"
	"reflect"
)

// Setting is one setting as a person or a program is shown it.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// The sources that a value can come from.
const (
	FromDefault     = "default"
	FromEnvironment = "env"
	FromFile        = "file"
)

// Settings lists the effective value of every setting, in order, secrets masked.
func (c Config) Settings() []Setting {
	var list []Setting
	for _, field := range fields() {
		s := Setting{
			Name:   field.Tag.Get("envconfig"),
			Value:  fmt.Sprint(reflect.ValueOf(c).FieldByIndex(field.Index).Interface()),
			Source: FromDefault,
		}
		if source, is := c.sources[s.Name]; is {
			s.Source = source
		}
		list = append(list, s)
	}
	return list
}

// Doc is what the documentation says about one setting.
type Doc struct {
	// Default is empty where there is none.
	Name, Default, Allowed, Meaning string
	// File is the variable that may name a file with the value instead; empty where there is none.
	File string
}

// Docs lists what every setting means, in order.
func Docs() []Doc {
	var list []Doc
	for _, field := range fields() {
		tag := field.Tag
		list = append(list, Doc{tag.Get("envconfig"), tag.Get("default"), tag.Get("allowed"), tag.Get("desc"), fileVariable(field)})
	}
	return list
}
