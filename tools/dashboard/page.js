'use strict';
// The page: panels where the dashboard has them, each drawn by its kind.

const cell = { height: 30, gap: 8 };
const inner = 1600 - 2 * cell.gap;
const escape = (text) => String(text).replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]);

const place = (at, top) => {
  const column = (inner + cell.gap) / 24;
  return {
    left: cell.gap + at.x * column,
    top: (at.y - top) * (cell.height + cell.gap),
    width: at.w * column - cell.gap,
    height: at.h * cell.height + (at.h - 1) * cell.gap,
  };
};

const numbers = (values) => values.map(([t, v]) => [t, Number(v)]);

// seriesOf are the lines of a panel with their names in the legend.
const seriesOf = (panel, answer) => panel.targets.flatMap((q) => (answer[q.refId]?.result ?? []).map((s) => ({
  name: (q.legendFormat ?? '').replace(/\{\{(\w+)\}\}/g, (_, label) => s.metric[label] ?? '') || panel.title,
  points: numbers(s.values ?? [s.value]),
}))).map((s, i) => {
  const own = Object.fromEntries((panel.fieldConfig.overrides ?? []).filter((o) => o.matcher.options === s.name)
    .flatMap((o) => o.properties.map((p) => [p.id, p.value])));
  return {
    ...s,
    colour: lineColours[own.color?.fixedColor] ?? palette[i % palette.length],
    fill: own['custom.fillOpacity'],
    dashed: own['custom.lineStyle']?.fill === 'dash',
  };
});

// colourOf is the threshold's that a value has passed.
const colourOf = (defaults, v) => colours[defaults.thresholds.steps.filter((s) => s.value === null || v >= s.value).at(-1).color];

const mapped = (defaults, v) => {
  for (const m of defaults.mappings ?? []) {
    if (m.type === 'value' && m.options[String(v)]) return m.options[String(v)];
    if (m.type === 'special' && m.options.match === 'nan' && Number.isNaN(v)) return m.options.result;
  }
  return null;
};

const kinds = {
  stat(panel, answer, span, size, box) {
    const { defaults } = panel.fieldConfig;
    const points = seriesOf(panel, answer)[0]?.points ?? [];
    const value = points.at(-1)?.[1];
    const word = value === undefined ? null : mapped(defaults, value);
    let text = word?.text;
    if (!text) text = value === undefined || Number.isNaN(value) ? defaults.noValue : format(value, defaults.unit, defaults.decimals);
    const colour = word?.color ? colours[word.color] : Number.isNaN(value ?? NaN) ? colours.text : colourOf(defaults, value);
    const solid = panel.options.colorMode === 'background';
    if (solid) {
      box.classList.add('solid');
      box.style.background = `linear-gradient(120deg, ${colour}, color-mix(in srgb, ${colour} 82%, black))`;
    }
    const fit = Math.min(size.height * 0.48, (size.width - 20) / (text.length * 0.56), 46);
    const line = panel.options.graphMode === 'area' ? spark(points, solid ? '#ffffff' : colour, size.width, size.height) : '';
    return `${line}<div class="big" style="font-size:${fit}px;color:${solid ? '#fff' : colour}">${escape(text)}</div>`;
  },
  timeseries(panel, answer, span, size) {
    const all = seriesOf(panel, answer).filter((s) => s.points.some(([, v]) => Number.isFinite(v)));
    if (all.length === 0) return '';
    const wide = all.reduce((sum, s) => sum + s.name.length * 6 + 32, 0);
    const lines = Math.ceil(wide / (size.width - 16));
    const legend = all.map((s) => `<span><i style="background:${s.colour}"></i>${escape(s.name)}</span>`).join('');
    return `${graph(panel, all, span, size.width, size.height - lines * 16 - 8)}<div class="legend">${legend}</div>`;
  },
  heatmap(panel, answer, span, size) {
    return heatOf(panel, answer.A.result, span, size.width, size.height - 4);
  },
  bargauge(panel, answer) {
    const all = seriesOf(panel, answer);
    const { defaults } = panel.fieldConfig;
    const most = Math.max(...all.map((s) => s.points[0][1]), 1e-9);
    return `<div class="bars">${all.map((s) => {
      const v = s.points[0][1];
      return `<span>${escape(s.name)}</span><div class="track"><div class="fill" style="width:${(v / most) * 100}%;background:${colourOf(defaults, v)}"></div></div><b>${format(v, defaults.unit, defaults.decimals)}</b>`;
    }).join('')}</div>`;
  },
  table(panel, answer) {
    const rows = answer.A.result;
    const names = [...new Set(rows.flatMap((r) => Object.keys(r.metric)))].sort();
    const last = panel.transformations[0].options.renameByName.Value;
    return `<table><tr>${names.map((n) => `<th>${n}</th>`).join('')}<th class="number">${last}</th></tr>${rows
      .map((r) => `<tr>${names.map((n) => `<td>${escape(r.metric[n] ?? '')}</td>`).join('')}<td class="number">${r.value[1]}</td></tr>`).join('')}</table>`;
  },
};

const days = (text) => Number.parseInt(text, 10) * 86400;

globalThis.draw = (board, answers) => {
  const time = (t) => new Date(t * 1000).toISOString().slice(0, 19).replace('T', ' ');
  const top = Math.min(...board.panels.map((p) => p.gridPos.y));
  const main = document.body.appendChild(document.createElement('main'));
  main.innerHTML = `<header><h1>${board.title}</h1>
    <div class="chip"><b>Prometheus</b><span>prometheus</span></div><div class="chip"><b>Namespace</b><span>All</span></div><div class="chip"><b>Worker</b><span>analyze-retry</span></div><div class="chip"><b>Policy</b><span>tiss</span></div><div class="chip"><b>Job type</b><span>All</span></div>
    <div class="right">${time(answers.From)} to ${time(answers.To)} UTC<br>drawn from what Prometheus answered, not by Grafana</div></header><div class="grid"></div>`;
  const grid = main.querySelector('.grid');
  let bottom = 0;
  for (const panel of board.panels) {
    const at = place(panel.gridPos, top);
    const box = grid.appendChild(document.createElement('div'));
    Object.assign(box.style, { left: `${at.left}px`, top: `${at.top}px`, width: `${at.width}px`, height: `${at.height}px` });
    bottom = Math.max(bottom, at.top + at.height);
    box.className = panel.type === 'row' ? 'row' : 'panel';
    if (panel.type === 'row') {
      box.textContent = panel.title;
      continue;
    }
    const span = { from: answers.From, to: answers.To, step: answers.Step };
    if (panel.timeFrom) Object.assign(span, { from: answers.To - days(panel.timeFrom), step: days(panel.interval) });
    if (panel.type === 'heatmap') span.step = 15;
    const size = { width: at.width - 2, height: at.height - 28 };
    const drawn = kinds[panel.type](panel, answers.Panels[panel.id], span, size, box);
    const note = panel.timeFrom ? ` <span style="color:#8e8e9c;font-weight:400">last ${panel.timeFrom.replace('d', ' days')}</span>` : '';
    box.innerHTML = `<h2>${escape(panel.title)}${note}</h2><div class="body">${drawn || `<div class="none">${escape(panel.fieldConfig.defaults.noValue)}</div>`}</div>`;
  }
  grid.style.height = `${bottom + 10}px`;
};
