// Draws deploy/grafana/dashboard.json with what a Prometheus answered to its expressions:
//   node render.mjs <answers.json>
// writes docs/images/dashboard.png, the rows that are looked at first, and dashboard-more.png, the others. The answers are
// written by the test of the dashboard (make pictures). This is not Grafana: it draws the kinds of panels that this
// dashboard has, much as Grafana does.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from '../models/browser.mjs';

const here = fileURLToPath(new URL('./', import.meta.url));
const root = join(here, '..', '..');
const firstOfMore = 'Outcomes';

async function main() {
  const [file] = process.argv.slice(2);
  if (!file) throw new Error('name the file with the answers of Prometheus (make pictures writes one)');
  const board = JSON.parse(await readFile(join(root, 'deploy', 'grafana', 'dashboard.json'), 'utf8'));
  const answers = JSON.parse(await readFile(file, 'utf8'));
  const cut = board.panels.findIndex((p) => p.type === 'row' && p.title === firstOfMore);
  if (cut < 0) throw new Error(`the dashboard has no row ${firstOfMore}`);
  const browser = await launch();
  try {
    for (const [name, panels] of [['dashboard', board.panels.slice(0, cut)], ['dashboard-more', board.panels.slice(cut)]]) {
      const page = await browser.newPage({ viewport: { width: 1600, height: 900 }, deviceScaleFactor: 1.25 });
      const faults = [];
      page.on('pageerror', (error) => faults.push(error.message));
      await page.setContent('<!doctype html><html lang="en"><body></body></html>');
      await page.addStyleTag({ path: join(here, 'page.css') });
      for (const script of ['format.js', 'chart.js', 'page.js']) await page.addScriptTag({ path: join(here, script) });
      await page.evaluate(([b, a]) => globalThis.draw(b, a), [{ ...board, panels }, answers]);
      if (faults.length > 0) throw new Error(faults.join('; '));
      await page.locator('main').screenshot({ path: join(root, 'docs', 'images', `${name}.png`) });
      console.log(`docs/images/${name}.png`);
      await page.close();
    }
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  console.error(`render: ${error.message}`);
  process.exitCode = 1;
});
