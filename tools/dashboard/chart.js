'use strict';
// Graphs over time, as SVG.

const svgOf = (width, height, parts) => `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${parts.join('')}</svg>`;

// What is round for a person, by the unit: hours and days are not tens of seconds.
const roundOf = {
  s: [10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000],
  m: [10, 15, 30, 60, 120, 180, 360, 720, 1440],
  bytes: [10, 20, 50, 100, 200, 500].map((n) => n * 1024 ** 2),
};

// niceTicks are round values up to max.
const niceTicks = (min, max, count, unit) => {
  const raw = (max - min) / count;
  const base = 10 ** Math.floor(Math.log10(raw));
  const round = roundOf[unit] ?? [];
  const step = (raw > round[0] ? round : [1, 2, 2.5, 5, 10].map((f) => f * base)).find((s) => s >= raw * 0.999) ?? raw;
  const ticks = [];
  for (let v = Math.ceil(min / step) * step; v <= max + step * 1e-9; v += step) ticks.push(Math.abs(v) < step * 1e-9 ? 0 : v);
  return ticks;
};

const timeTicks = (from, to, count) => {
  const step = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 86400, 5 * 86400, 7 * 86400].find((s) => (to - from) / s <= count);
  const ticks = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) ticks.push(t);
  return ticks;
};

// frame draws axes and grid, and returns how values become places.
const frame = ({ width, height, from, to, ticks, min, max, log, label, left }) => {
  const box = { left, right: width - 12, top: 8, bottom: height - 20 };
  const x = (t) => box.left + ((t - from) / (to - from)) * (box.right - box.left);
  const y = (v) => {
    const part = log ? Math.log(Math.max(v, min) / min) / Math.log(max / min) : (v - min) / (max - min);
    return box.bottom - Math.min(Math.max(part, 0), 1) * (box.bottom - box.top);
  };
  const parts = ticks.map((v) => `<line x1="${box.left}" x2="${box.right}" y1="${y(v)}" y2="${y(v)}" stroke="#25272d"/>`
    + `<text x="${box.left - 6}" y="${y(v) + 3.5}" text-anchor="end">${label(v)}</text>`);
  for (const t of timeTicks(from, to, Math.max(3, Math.floor((box.right - box.left) / 75)))) {
    parts.push(`<line x1="${x(t)}" x2="${x(t)}" y1="${box.top}" y2="${box.bottom}" stroke="#202227"/>`
      + `<text x="${Math.min(Math.max(x(t), box.left + 14), box.right - 16)}" y="${box.bottom + 14}" text-anchor="middle">${clock(t, to - from)}</text>`);
  }
  return { box, x, y, parts };
};

const path = (points) => points.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');

// runs cuts a series where it has no numbers, or none for long.
const runs = (points, gap) => {
  const all = [];
  let run = [];
  for (const p of points) {
    if (!Number.isFinite(p[1]) || (run.length && p[0] - run.at(-1)[0] > gap)) {
      if (run.length) all.push(run);
      run = [];
    }
    if (Number.isFinite(p[1])) run.push(p);
  }
  if (run.length) all.push(run);
  return all;
};

// stack puts the series on one another; each point also holds where it rises from.
const stack = (series) => {
  const base = new Map();
  return series.map((s) => ({
    ...s,
    points: s.points.filter(([, v]) => Number.isFinite(v)).map(([t, v]) => {
      const low = base.get(t) ?? 0;
      base.set(t, low + v);
      return [t, low + v, low];
    }),
  }));
};

// graph draws a timeseries panel. Series are {name, colour, points: [[time, value]]}.
globalThis.graph = (panel, series, span, width, height) => {
  const { defaults } = panel.fieldConfig;
  const custom = defaults.custom ?? {};
  const isLog = custom.scaleDistribution?.type === 'log';
  const bars = custom.drawStyle === 'bars';
  const drawn = custom.stacking?.mode === 'normal' ? stack(series) : series;
  const values = drawn.flatMap((s) => s.points.map((p) => p[1])).filter(Number.isFinite);
  let max = defaults.max ?? Math.max(...values, 0);
  const limits = (custom.thresholdsStyle ? defaults.thresholds.steps : []).filter((s) => s.value !== null);
  for (const l of limits) if (l.value <= max * 2.2 || isLog) max = Math.max(max, l.value * (isLog ? 3 : 1.05));
  if (max <= 0) max = 1;
  let min = Math.min(defaults.min ?? 0, ...values, 0);
  let ticks;
  if (isLog) {
    min = 10 ** Math.floor(Math.log10(Math.max(Math.min(...values), 1e-6)));
    max = 10 ** Math.ceil(Math.log10(max));
    ticks = [];
    for (let v = min; v <= max * 1.001; v *= 10) ticks.push(v);
  } else {
    ticks = niceTicks(min, max, 4, defaults.unit);
    max = Math.max(max, ticks.at(-1));
    if (defaults.max === undefined) {
      const step = ticks[1] - ticks[0];
      max = Math.ceil((max - step * 1e-6) / step) * step;
      ticks = niceTicks(min, max, Math.round((max - min) / step), defaults.unit);
    }
  }
  const label = (v) => format(v, defaults.unit);
  const left = 14 + Math.max(...ticks.map((v) => label(v).length)) * 6;
  const { box, x, y, parts } = frame({ width, height, from: span.from, to: span.to, ticks, min, max, log: isLog, label, left });
  const fill = (custom.fillOpacity ?? 0) / 100;
  for (const s of [...drawn].reverse()) {
    if (bars) {
      const wide = Math.max(3, Math.min(22, ((box.right - box.left) / ((span.to - span.from) / span.step)) * 0.7));
      for (const [t, v, low = 0] of s.points) {
        const at = Math.min(x(t), box.right - wide / 2);
        parts.push(`<rect x="${at - wide / 2}" y="${y(v)}" width="${wide}" height="${Math.max(y(low) - y(v), 0)}" fill="${s.colour}" fill-opacity="${fill}"/>`);
      }
      continue;
    }
    for (const run of runs(s.points, span.step * 2.5)) {
      const top = run.map(([t, v]) => [x(t), y(v)]);
      const low = run.map(([t, , from = isLog ? min : Math.max(min, 0)]) => [x(t), y(from)]).reverse();
      if (run.length === 1) parts.push(`<circle cx="${top[0][0]}" cy="${top[0][1]}" r="2" fill="${s.colour}"/>`);
      const own = s.fill ?? fill * 100;
      if (own > 0) parts.push(`<path d="${path([...top, ...low])}Z" fill="${s.colour}" fill-opacity="${own / 100}"/>`);
      parts.push(`<path d="${path(top)}" fill="none" stroke="${s.colour}" stroke-width="1.4" stroke-linejoin="round"${s.dashed ? ' stroke-dasharray="8 6"' : ''}/>`);
    }
  }
  for (const l of limits) {
    if (l.value < min || l.value > max) continue;
    parts.push(`<line x1="${box.left}" x2="${box.right}" y1="${y(l.value)}" y2="${y(l.value)}" stroke="${colours[l.color]}" stroke-width="1.3" stroke-dasharray="8 6"/>`);
  }
  return svgOf(width, height, parts);
};

const bound = (le) => (le === '+Inf' ? Infinity : Number(le));

// heatOf draws buckets, which Prometheus counts up, each for itself.
globalThis.heatOf = (panel, result, span, width, height) => {
  const rows = result.map((s) => ({ le: bound(s.metric.le), at: new Map(s.values.map(([t, v]) => [t, Number(v)])) })).sort((a, b) => a.le - b.le);
  const times = [...new Set(rows.flatMap((r) => [...r.at.keys()]))].sort((a, b) => a - b);
  const used = rows.map((r, i) => ({ ...r, of: (t) => Math.max((r.at.get(t) ?? 0) - (i ? rows[i - 1].at.get(t) ?? 0 : 0), 0) }));
  const most = Math.max(...used.flatMap((r) => times.map(r.of)), 1e-9);
  const unit = panel.options.yAxis?.unit;
  const label = (v) => (used[v].le === Infinity ? '> ' + format(used[v - 1].le, unit) : format(used[v].le, unit));
  const left = 70;
  const { box, x, parts } = frame({ width, height, from: span.from, to: span.to, ticks: [], min: 0, max: 1, label: () => '', left });
  const tall = (box.bottom - box.top) / used.length;
  const shades = ['#2b1d14', '#7f2704', '#a63603', '#d94801', '#f16913', '#fd8d3c', '#fdae6b', '#fdd0a2', '#fff5eb'];
  used.forEach((r, i) => {
    const top = box.bottom - (i + 1) * tall;
    if (i % 2 === 0 || used.length < 12) parts.push(`<text x="${left - 6}" y="${top + tall / 2 + 3.5}" text-anchor="end">${label(i)}</text>`);
    for (const t of times) {
      const v = r.of(t);
      if (v < 1e-6) continue;
      const shade = shades[Math.min(shades.length - 1, 1 + Math.floor(Math.sqrt(v / most) * (shades.length - 1)))];
      const [from, to] = [Math.max(x(t - span.step), box.left), x(t)];
      if (to - from > 1) parts.push(`<rect x="${from + 0.5}" y="${top + 0.5}" width="${to - from - 1}" height="${tall - 1}" fill="${shade}"/>`);
    }
  });
  return svgOf(width, height, parts);
};

// spark is the line behind a number.
globalThis.spark = (points, colour, width, height) => {
  const values = points.map((p) => p[1]).filter(Number.isFinite);
  if (values.length < 2) return '';
  const [low, high] = [Math.min(...values, 0), Math.max(...values)];
  const [from, to] = [points[0][0], points.at(-1)[0]];
  const y = (v) => height - 2 - ((v - low) / (high - low || 1)) * height * 0.4 * (high === low ? 0 : 1);
  const x = (t) => ((t - from) / (to - from || 1)) * width;
  const line = points.filter((p) => Number.isFinite(p[1])).map(([t, v]) => [x(t), y(v)]);
  return svgOf(width, height, [
    `<path d="${path([...line, [line.at(-1)[0], height], [line[0][0], height]])}Z" fill="${colour}" fill-opacity="0.25"/>`,
    `<path d="${path(line)}" fill="none" stroke="${colour}" stroke-opacity="0.8" stroke-width="1.2"/>`,
  ]);
};
