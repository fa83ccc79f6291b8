// Renders the models that a page shows to docs/images/<name>.svg, which carries the SHA-256 of the file it was drawn from, so
// that a test can tell a stale picture without a browser.
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { launch } from './browser.mjs';
import { files, images } from './files.mjs';

const viewer = createRequire(import.meta.url).resolve('bpmn-js/dist/bpmn-viewer.production.min.js');
const margin = 20;
const shown = ['sub-06', 'submission-retry'];

// toSVG draws one model in the page. bpmn-js names its arrow heads by chance; they are numbered here instead, so that
// an unchanged model gives an unchanged file.
async function toSVG(page, xml, comment) {
  const drawn = await page.evaluate(async (source) => {
    const container = document.body.appendChild(document.createElement('div'));
    container.style.cssText = 'width:2000px;height:1500px';
    const bpmn = new BpmnJS({ container });
    const { warnings } = await bpmn.importXML(source);
    if (warnings.length > 0) throw new Error(warnings.map((w) => w.message).join('; '));
    const { svg } = await bpmn.saveSVG();
    bpmn.destroy();
    container.remove();
    return svg;
  }, xml);
  const ids = new Map();
  for (const [, id] of drawn.matchAll(/ id="([^"]+)"/g)) ids.set(id, `m${ids.size + 1}`);
  let svg = drawn;
  for (const [from, to] of ids) svg = svg.replaceAll(`"${from}"`, `"${to}"`).replaceAll(`#${from}`, `#${to}`);

  const [x, y, width, height] = svg.match(/viewBox="([^"]+)"/)[1].split(/\s+/).map(Number);
  const box = { x: x - margin, y: y - margin, width: width + 2 * margin, height: height + 2 * margin };
  svg = svg
    .replace(/(<svg[^>]*?) width="[^"]*" height="[^"]*"/, `$1 width="${box.width}" height="${box.height}"`)
    .replace(/viewBox="[^"]+"/, `viewBox="${box.x} ${box.y} ${box.width} ${box.height}"`)
    .replace(/(<svg[^>]*>)/, `<!-- ${comment} -->\n$1<rect x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" fill="white"/>`);
  return { svg: svg.trimEnd() + '\n' };
}

async function main() {
  const browser = await launch();
  try {
    const page = await browser.newPage();
    await page.addScriptTag({ path: viewer });
    await mkdir(images, { recursive: true });
    const drawings = [];
    for (const path of await files('.bpmn')) {
      const source = await readFile(path);
      const name = basename(path, '.bpmn');
      if (!shown.includes(name)) continue;
      const sha = createHash('sha256').update(source).digest('hex');
      drawings.push({ name, ...await toSVG(page, source.toString('utf8'), `source: ${basename(path)} sha256: ${sha}`) });
    }
    for (const { name, svg } of drawings) {
      await writeFile(join(images, `${name}.svg`), svg);
      console.log(`docs/images/${name}.svg`);
    }
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  console.error(`render: ${error.message}`);
  process.exitCode = 1;
});
