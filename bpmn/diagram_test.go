package bpmn_test

import (
	"testing"
)

func TestEverythingIsDrawn(t *testing.T) {
	for _, path := range files(t) {
		t.Run(path, func(t *testing.T) {
			root := read(t, path)
			shapes := map[string]bool{}
			for _, s := range root.all("BPMNShape") {
				shapes[s.attr("bpmnElement")] = true
			}
			nodes := root.flowNodes()
			for _, n := range nodes {
				if !shapes[n.attr("id")] {
					t.Errorf("%s has no shape", n.attr("id"))
				}
			}
			if len(shapes) != len(nodes) {
				t.Errorf("%d shapes for %d elements", len(shapes), len(nodes))
			}
			drawn, flows := root.waypoints(t), root.all("sequenceFlow")
			for _, f := range flows {
				if len(drawn[f.attr("id")]) < 2 {
					t.Errorf("%s has no edge", f.attr("id"))
				}
			}
			if len(drawn) != len(flows) {
				t.Errorf("%d edges for %d flows", len(drawn), len(flows))
			}
		})
	}
}

func TestFlowsRunStraightAndNeverCross(t *testing.T) {
	for _, path := range files(t) {
		t.Run(path, func(t *testing.T) {
			type segment struct {
				flow     string
				from, to point
			}
			var level, upright []segment
			for flow, corners := range read(t, path).waypoints(t) {
				for i := 1; i < len(corners); i++ {
					a, b := corners[i-1], corners[i]
					low := point{min(a.x, b.x), min(a.y, b.y)}
					high := point{max(a.x, b.x), max(a.y, b.y)}
					switch {
					case a.y == b.y:
						level = append(level, segment{flow, low, high})
					case a.x == b.x:
						upright = append(upright, segment{flow, low, high})
					default:
						t.Errorf("%s runs aslant from %v to %v", flow, a, b)
					}
				}
			}
			for _, h := range level {
				for _, v := range upright {
					crosses := h.from.x < v.from.x && v.from.x < h.to.x && v.from.y < h.from.y && h.from.y < v.to.y
					if crosses && h.flow != v.flow {
						t.Errorf("%s crosses %s at %v", h.flow, v.flow, point{v.from.x, h.from.y})
					}
				}
			}
		})
	}
}

func TestEveryChoiceAtAGatewayHasAName(t *testing.T) {
	for _, path := range files(t) {
		root := read(t, path)
		for _, g := range root.all("exclusiveGateway") {
			if len(g.all("outgoing")) < 2 {
				continue
			}
			if g.attr("name") == "" {
				t.Errorf("%s: %s asks nothing", path, g.attr("id"))
			}
			for _, out := range g.all("outgoing") {
				if root.byID(t, out.Text).attr("name") == "" {
					t.Errorf("%s: %s has no name", path, out.Text)
				}
			}
		}
	}
}
