package modellint

import "slices"

// next returns the nodes that can follow a node: by its sequence flows, by the events attached to it, into a
// sub-process, and out of one.
func (n *node) next() (all []*node) {
	all = append(all, n.boundary...)
	if len(n.starts) > 0 {
		return append(all, n.starts...)
	}
	return append(all, n.after()...)
}

// after returns the nodes that follow when a node is done.
func (n *node) after() []*node {
	if len(n.to) > 0 || n.parent == nil || n.throwsError {
		return slices.Clone(n.to)
	}
	return n.parent.after()
}

// finishes reports whether its process can end behind a node. A link leads on, although no flow does.
func (n *node) finishes() bool {
	return !n.throwsError && len(n.Named("linkEventDefinition")) == 0 && len(n.next()) == 0
}

// reached returns the nodes on the ways from some nodes, them included, up to those that stop.
func reached(from []*node, stops func(*node) bool) (all []*node) {
	seen := map[*node]bool{}
	for queue := slices.Clone(from); len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		if seen[n] {
			continue
		}
		seen[n] = true
		all = append(all, n)
		if !stops(n) {
			queue = append(queue, n.next()...)
		}
	}
	return all
}

// leads reports whether a way leads from some nodes to another one, not through nodes that stop.
func leads(from []*node, to *node, stops func(*node) bool) bool {
	return slices.Contains(reached(from, stops), to)
}

// catcher returns the event that catches an error of a node in its own process, nil if the error leaves that:
// one attached to the node or to a sub-process around it, or else the start of an event sub-process.
func catcher(n *node, code string) *node {
	for scope := n; scope != nil; scope = scope.parent {
		if event := matching(scope.boundary, code); event != nil {
			return event
		}
	}
	return matching(n.process.starts, code)
}

// matching returns the event that catches an error: the one with its code, else the one that catches all.
func matching(events []*node, code string) *node {
	for _, caught := range []string{code, ""} {
		for _, e := range events {
			if e.catchesErrors && e.errorCode == caught {
				return e
			}
		}
	}
	return nil
}
