//go:build !linux

package process

import "syscall"

// attributes cannot tie the child's life to ours here: a parent that is killed leaves its child behind.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
