package report

import (
	"fmt"
	"html"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/term"
)

// The measures of the picture, in its own units.
const (
	svgWidth, svgLeft, svgRight = 960, 80, 24
	svgInner                    = svgWidth - svgLeft - svgRight
	svgWave                     = 170 // height of a panel of waves
	svgRow                      = 22  // height of a band
	svgMaxBands                 = 12
)

// svgColours are those of the policy and of the one it is compared with. They differ in lightness too.
var svgColours = []string{"#1b5e93", "#c8691c"}

// picture is an SVG that is being drawn, from top to bottom.
type picture struct {
	strings.Builder
	y float64
}

// SVG draws the waves and the schedule.
func (s *Simulation) SVG() string {
	p := &picture{y: 34}
	p.text(24, p.y, "start", `class="title"`, "Retries through an outage")
	p.y += 22
	p.text(24, p.y, "start", "", html.EscapeString(term.Shorten(s.setting(), 150)))
	p.y += 22
	p.legend(s)
	most := 0
	width := stepOf(s.span, 150)
	for _, one := range s.plays {
		for _, waves := range [][]int{perStep(one.With.Waves, width), perStep(one.Plain.Waves, width)} {
			for _, n := range waves {
				most = max(most, n)
			}
		}
	}
	for i := range s.plays {
		p.waves(s, i, width, niceCount(most))
	}
	p.schedule(s)
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%.0f" viewBox="0 0 %d %.0f" font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#222">
<style>.title{font-size:18px;font-weight:bold}.head{font-weight:bold}.axis{stroke:#555;stroke-width:1}.grid{stroke:#d5d5d5;stroke-width:1}</style>
<rect width="100%%" height="100%%" fill="#fff"/>
%s</svg>
`, svgWidth, p.y, svgWidth, p.y, p.String())
}

func (p *picture) text(x, y float64, anchor, attributes, escaped string) {
	fmt.Fprintf(p, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" %s>%s</text>\n", x, y, anchor, attributes, escaped)
}

func (p *picture) rect(x, y, width, height float64, fill string) {
	fmt.Fprintf(p, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n", x, y, width, height, fill)
}

func (p *picture) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(p, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" class=\"%s\"/>\n", x1, y1, x2, y2, class)
}

const shade = "#ececec"

func (p *picture) legend(s *Simulation) {
	x := 24.0
	for i, one := range s.Policies {
		p.rect(x, p.y-11, 14, 12, svgColours[i])
		name := "retries of " + term.Shorten(one.Policy, 24)
		p.text(x+20, p.y, "start", "", html.EscapeString(name))
		x += 44 + 7.2*float64(len(name))
	}
	fmt.Fprintf(p, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#222\" stroke-width=\"1.3\" stroke-dasharray=\"4 3\"/>\n", x, p.y-5, x+22, p.y-5)
	p.text(x+28, p.y, "start", "", "the same without jitter")
	x += 196
	p.rect(x, p.y-11, 14, 12, shade)
	p.text(x+20, p.y, "start", "", "outage")
	p.y += 14
}

// waves draws a panel with the waves of a policy, and those without jitter as a line.
func (p *picture) waves(s *Simulation, i int, width time.Duration, top int) {
	p.y += 24
	p.text(svgLeft, p.y, "start", `class="head"`, html.EscapeString(fmt.Sprintf("%s: retries in each %s", s.Policies[i].Policy, term.Span(width))))
	p.y += 10
	floor := p.y + svgWave
	x := func(at time.Duration) float64 { return svgLeft + svgInner*float64(at)/float64(s.span) }
	y := func(n int) float64 { return floor - svgWave*float64(n)/float64(top) }
	for _, o := range s.scenario.Outages {
		p.rect(x(o.Begin), p.y, x(o.End)-x(o.Begin), svgWave, shade)
	}
	for part := range 5 {
		n := top * part / 4
		if part > 0 {
			p.line(svgLeft, y(n), svgLeft+svgInner, y(n), "grid")
		}
		p.text(svgLeft-8, y(n)+4, "end", "", fmt.Sprint(n))
	}
	for step, n := range perStep(s.plays[i].With.Waves, width) {
		if n > 0 {
			from := x(time.Duration(step) * width)
			p.rect(from, y(n), max(min(x(time.Duration(step+1)*width), svgLeft+svgInner)-from-0.6, 0.8), floor-y(n), svgColours[i])
		}
	}
	fmt.Fprintf(p, "<path fill=\"none\" stroke=\"#222\" stroke-width=\"1.3\" stroke-dasharray=\"4 3\" d=\"M%.1f %.1f", x(0), y(0))
	last := 0
	for step, n := range append(perStep(s.plays[i].Plain.Waves, width), 0) {
		if n != last {
			fmt.Fprintf(p, "H%.1fV%.1f", min(x(time.Duration(step)*width), svgLeft+svgInner), y(n))
		}
		last = n
	}
	fmt.Fprintf(p, "H%d\"/>\n", svgLeft+svgInner)
	p.y = floor
	p.timeAxis(s.span, "time since the first claims were submitted")
}

// timeAxis draws the axis below a panel, and moves below it.
func (p *picture) timeAxis(span time.Duration, meaning string) {
	p.line(svgLeft, p.y, svgLeft+svgInner, p.y, "axis")
	tick := stepOf(span, 10)
	for at := time.Duration(0); at <= span; at += tick {
		x := svgLeft + svgInner*float64(at)/float64(span)
		p.line(x, p.y, x, p.y+5, "axis")
		p.text(x, p.y+19, "middle", "", axisTime(at))
	}
	p.text(svgLeft+svgInner/2, p.y+38, "middle", "", meaning)
	p.y += 48
}

// schedule draws for each policy and each retry the band in which it is made.
func (p *picture) schedule(s *Simulation) {
	outage := s.scenario.Outages[0].End - s.scenario.Outages[0].Begin
	span, rows, title := outage, 0, "When a claim is tried again, as long as it fails"
	shown := make([][]retry.Scheduled, len(s.plays))
	for i := range s.plays {
		shown[i] = s.Policies[i].bands
		if len(shown[i]) > svgMaxBands {
			shown[i], title = shown[i][:svgMaxBands], fmt.Sprintf("When a claim is tried again, as long as it fails (the first %d retries)", svgMaxBands)
		}
		if n := len(shown[i]); n > 0 {
			span = max(span, shown[i][n-1].TotalLongest)
			rows += n
		}
	}
	p.y += 24
	if rows == 0 {
		return
	}
	p.text(svgLeft, p.y, "start", `class="head"`, title)
	p.y += 10
	x := func(at time.Duration) float64 { return svgLeft + svgInner*float64(at)/float64(span) }
	p.rect(svgLeft, p.y, x(outage)-svgLeft, float64(rows*svgRow+8), shade)
	p.y += 4
	for i, bands := range shown {
		for n, b := range bands {
			p.text(svgLeft-8, p.y+15, "end", "", fmt.Sprintf("retry %d", n+1))
			from, to := x(b.TotalShortest), x(b.TotalLongest)
			p.rect(from, p.y+4, max(to-from, 2), svgRow-8, svgColours[i])
			const widest = 150 // of the words
			switch {
			case to < svgWidth-widest:
				p.text(to+6, p.y+15, "start", "", bandWords(&b))
			case from > svgLeft+widest:
				p.text(from-6, p.y+15, "end", "", bandWords(&b))
			default:
				p.text(to-6, p.y+15, "end", `fill="#fff"`, bandWords(&b))
			}
			p.y += svgRow
		}
	}
	p.y += 4
	p.timeAxis(span, "time since the claim's first failure; the length of the first outage is shaded")
}

// niceCount returns the least number of the form 4, 8, 12, 20, 40, 80, 120, ... that is not less than n: a quarter of it is
// whole.
func niceCount(n int) int {
	for ten := 1; ; ten *= 10 {
		for _, lead := range []int{4, 8, 12, 16, 20, 24, 32} {
			if lead*ten >= n {
				return lead * ten
			}
		}
	}
}
