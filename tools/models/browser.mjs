// A browser without a window, for what draws pictures.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

// The browser is the machine's own: $CHROMIUM, or the first of the usual names.
function findBrowser() {
  const candidates = process.env.CHROMIUM ? [process.env.CHROMIUM] : [
    ...['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'].flatMap(
      (name) => (process.env.PATH ?? '').split(delimiter).map((dir) => join(dir, name)),
    ),
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ];
  for (const path of candidates) {
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch { /* the next one */ }
  }
  throw new Error(process.env.CHROMIUM
    ? `CHROMIUM=${process.env.CHROMIUM} cannot be run`
    : 'no Chromium or Chrome found: install one, or set CHROMIUM to its path');
}

// launch starts the browser. Whoever calls it has to close it.
export function launch() {
  return chromium.launch({
    executablePath: findBrowser(),
    // It draws our own files and opens no site, so it needs neither network nor sandbox (which root cannot have).
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}
