package modellint

import "slices"

// next returns the nodes that can follow a node: by its sequence flows, by the events attached to it, into a sub-process, and
// out of one.
func (n *node) next() (all []*node) {
	all = append(all, n.boundary...)
	if entries := n.entries(); len(entries) > 0 {
		return append(all, entries...)
	}
	return append(all, n.after()...)
}

// after returns the nodes that follow when a node is done.
func (n *node) after() (all []*node) {
	for _, f := range n.flows {
		all = append(all, f.to)
	}
	if len(all) > 0 || n.parent == nil || n.throwsError {
		return all
	}
	return n.parent.after()
}

// entries returns the nodes with which a sub-process begins, and the start events of the event sub-processes in it.
func (n *node) entries() (all []*node) {
	for _, c := range n.children {
		switch {
		case c.kind == "startEvent":
			all = append(all, c)
		case c.isEventBlock:
			all = append(all, c.entries()...)
		}
	}
	return all
}

// finishes reports whether its process can end behind a node. A link leads on, although no flow does.
func (n *node) finishes() bool {
	return !n.throwsError && !n.isLink && len(n.next()) == 0
}

// walk visits what can follow some nodes, them included, each node once. It goes on behind a node for which visit
// returns true.
func walk(from []*node, visit func(*node) bool) {
	seen := map[*node]bool{}
	for queue := from; len(queue) > 0; {
		n := queue[0]
		queue = queue[1:]
		if seen[n] {
			continue
		}
		seen[n] = true
		if visit(n) {
			queue = append(queue, n.next()...)
		}
	}
}

// path returns a way from one of some nodes to another node, both included, nil if there is none. It does not lead through nodes
// that stop.
func path(from []*node, to *node, stops func(*node) bool) []*node {
	before := map[*node]*node{}
	queue := from
	for _, n := range from {
		before[n] = nil
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if n == to {
			var way []*node
			for ; n != nil; n = before[n] {
				way = append(way, n)
			}
			slices.Reverse(way)
			return way
		}
		if stops(n) {
			continue
		}
		for _, next := range n.next() {
			if _, seen := before[next]; !seen {
				before[next] = n
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// catchers returns the events that catch an error which a node throws, in its own process; none if the error leaves that.
// They are the events attached to the node, then those of the sub-processes around it.
func catchers(n *node, code string) []*node {
	for scope := n; ; scope = scope.parent {
		if found := matching(scope.boundary, code); found != nil {
			return found
		}
		var starts []*node
		for _, s := range n.process.nodes {
			if s.parent == scope.parent && s.isEventBlock && s != scope {
				starts = append(starts, s.entries()...)
			}
		}
		if found := matching(starts, code); found != nil {
			return found
		}
		if scope.parent == nil {
			return nil
		}
	}
}

// matching returns the event that catches an error: the one with its code, else the one that catches all.
func matching(events []*node, code string) []*node {
	var all []*node
	for _, e := range events {
		switch {
		case !e.catchesErrors:
		case e.errorCode == code:
			return []*node{e}
		case e.errorCode == "":
			all = []*node{e}
		}
	}
	return all
}
