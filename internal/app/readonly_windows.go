package app

import "syscall"

// errReadOnly is that of a file system that takes no files.
const errReadOnly = syscall.Errno(19) // ERROR_WRITE_PROTECT
