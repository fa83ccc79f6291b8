package sqlite

import "io/fs"

// lockName returns the file that is locked. A lock on the database would keep SQLite from reading it.
func lockName(file string) string { return file + ".lock" }

func links(fs.FileInfo) uint64 { return 1 }
