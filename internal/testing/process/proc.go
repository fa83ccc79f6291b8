package process

import "github.com/prometheus/procfs"

// Children returns the processes whose parent is pid; none if the system has no /proc.
func Children(pid int) (children []procfs.Proc) {
	all, _ := procfs.AllProcs()
	for _, p := range all {
		if stat, err := p.Stat(); err == nil && stat.PPID == pid {
			children = append(children, p)
		}
	}
	return children
}
