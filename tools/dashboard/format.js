'use strict';
// How values are written, by Grafana's names of the units that the dashboard has.

const scaled = (v, units) => {
  let i = 0;
  while (i + 1 < units.length && Math.abs(v) >= units[i + 1][0]) i += 1;
  return [v / units[i][0], units[i][1]];
};

const trim = (v, decimals) => {
  const digits = decimals ?? (Math.abs(v) >= 100 || Number.isInteger(v) ? 0 : Math.abs(v) >= 10 ? 1 : 2);
  const text = v.toFixed(digits);
  return decimals === undefined && text.includes('.') ? text.replace(/\.?0+$/, '') : text;
};

const unitsOf = {
  s: [[1e-6, ' µs'], [1e-3, ' ms'], [1, ' s'], [60, ' min'], [3600, ' h'], [86400, ' d']],
  m: [[1 / 60, ' s'], [1, ' min'], [60, ' h'], [1440, ' d']],
  bytes: [[1, ' B'], [1024, ' KiB'], [1024 ** 2, ' MiB'], [1024 ** 3, ' GiB']],
  short: [[1, ''], [1e3, ' K'], [1e6, ' Mil']],
};
const suffixOf = { cpm: ' c/m', reqps: ' req/s' };

// format writes a value in a unit of Grafana.
globalThis.format = (v, unit, decimals) => {
  if (unit === 'bool_yes_no') return v ? 'Yes' : 'No';
  if (unit?.startsWith('suffix:')) return trim(v, decimals) + unit.slice('suffix:'.length);
  if (v === 0 && unit !== 'percentunit') return `0${unitsOf[unit] ? (unit === 's' ? ' s' : unit === 'm' ? ' min' : unit === 'bytes' ? ' B' : '') : suffixOf[unit] ?? ''}`;
  if (unit === 'percentunit') return `${trim(v * 100, decimals)}%`;
  if (unitsOf[unit]) {
    const [value, suffix] = scaled(v, unitsOf[unit]);
    return trim(value, decimals) + suffix;
  }
  return trim(v, decimals) + (suffixOf[unit] ?? '');
};

// clock writes a time of the axis, as a day where the axis is of days.
globalThis.clock = (seconds, span) => {
  const d = new Date(seconds * 1000).toISOString();
  if (span > 2 * 86400) return d.slice(5, 10);
  return span < 300 ? d.slice(11, 19) : d.slice(11, 16);
};

// colours by the names that Grafana gives them.
globalThis.colours = { green: '#3d9a50', orange: '#e0752d', red: '#d9364f', blue: '#5794f2', text: '#6a6d78' };
globalThis.palette = ['#73bf69', '#f2cc0c', '#8ab8ff', '#ff780a', '#f2495c', '#5794f2', '#b877d9', '#96d98d', '#fade2a', '#ca95e5', '#ffa6b0', '#c0d8ff'];
globalThis.lineColours = { green: '#73bf69', yellow: '#fade2a', red: '#f2495c', purple: '#b877d9', blue: '#5794f2', orange: '#ff9830' };
