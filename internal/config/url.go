package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"hospital.example/analyze-retry/internal/connurl"
)

// checkPostgres says what of a postgres URL its driver would take from elsewhere than the place where it is masked and
// read here. It returns the files that the URL names.
func checkPostgres(u connurl.URL) (files []namedFile, err error) {
	parameters, err := u.Parameters()
	if err != nil {
		return nil, err
	}
	socket := false
	for _, parameter := range parameters {
		name, value := parameter[0], parameter[1]
		switch strings.ToLower(name) {
		case "host":
			if len(u.Hosts) > 0 || !strings.HasPrefix(value, "/") || strings.Contains(value, ",") {
				return nil, errors.New("names host in its query, which may be the directory of a socket and nothing else; write a host after the //")
			}
			socket = true
		case "port":
			if _, err := strconv.ParseUint(value, 10, 16); len(u.Hosts) > 0 || err != nil {
				return nil, errors.New("names port in its query; write it behind the host")
			}
		case "user", "password", "passfile", "hostaddr", "dbname", "database", "service", "servicefile":
			return nil, fmt.Errorf("names %s in its query; write user, password, host and database before the ?, and nothing into other files", strings.ToLower(name))
		case "sslkey", "sslcert", "sslrootcert":
			if value != "" && value != "system" {
				files = append(files, namedFile{name, value})
			}
		}
	}
	switch {
	case len(u.Hosts) == 0 && !socket:
		return nil, errors.New("names no host")
	case len(u.Path) < 2:
		return nil, errors.New("names no database")
	}
	return files, nil
}

// namedFile is a file that a URL's parameter names.
type namedFile struct{ parameter, path string }

// addURL reports a URL that cannot be used, and repeats nothing of it but its scheme, which is one that is known.
func (f *faults) addURL(name, scheme string, err error) {
	text := fmt.Sprintf("is %s://%s, which %v; allowed: %s", scheme, mask, err, allowed(name))
	if _, is := errors.AsType[connurl.UnclearError](err); is {
		text += "; in a user or password write @ as %40, : as %3A, / as %2F, ? as %3F, # as %23, % as %25, [ as %5B, ] as %5D, a blank as %20"
	}
	f.add(name, "%s", text)
}
