// Wires a blank process in Camunda's modeler as docs/modeling.md says, by mouse and keyboard, and takes a picture of each step
// for docs/modeling.md and docs/pt-BR/modelagem.md: docs/images/modeling-*.png. With a folder as argument it writes the
// models there instead and takes no pictures.
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readTemplates } from './apply.mjs';
import { launch } from './browser.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const images = join(root, 'docs', 'images');
const resolve = createRequire(import.meta.url).resolve;

// What differs between the two pages: the names of the templates, and what the person types.
const texts = {
  en: {
    process: 'ClaimsProcess', suffix: '', submit: 'Submit with retries', review: 'Review claim', correct: 'Correct data',
    record: 'Record outcome', exhausted: 'Error MAX_RETRIES_EXCEEDED', permanent: 'Error PERMANENT_ERROR', question: 'Send again?',
  },
  'pt-BR': {
    process: 'ProcessoDeContas', suffix: '-pt', submit: 'Enviar com retentativas', review: 'Revisar conta', correct: 'Corrigir dados',
    record: 'Registrar desfecho', exhausted: 'Erro MAX_RETRIES_EXCEEDED', permanent: 'Erro PERMANENT_ERROR', question: 'Reenviar?',
  },
};

// blank is what Camunda Modeler shows after "Camunda 8, BPMN diagram".
const blank = `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI" xmlns:dc="http://www.omg.org/spec/DD/20100524/DC" xmlns:modeler="http://camunda.org/schema/modeler/1.0" id="Definitions_1" targetNamespace="http://bpmn.io/schema/bpmn" modeler:executionPlatform="Camunda Cloud" modeler:executionPlatformVersion="8.5.0">
  <bpmn:process id="Process_1" isExecutable="true"><bpmn:startEvent id="StartEvent_1" /></bpmn:process>
  <bpmndi:BPMNDiagram id="BPMNDiagram_1"><bpmndi:BPMNPlane id="BPMNPlane_1" bpmnElement="Process_1">
    <bpmndi:BPMNShape id="StartEvent_1_di" bpmnElement="StartEvent_1"><dc:Bounds x="170" y="190" width="36" height="36" /></bpmndi:BPMNShape>
  </bpmndi:BPMNPlane></bpmndi:BPMNDiagram>
</bpmn:definitions>`;

// The layout of the page around the modeler.
const width = 1290;
const height = 620;
const style = `body{margin:0;display:flex;height:100vh;font-family:sans-serif}#canvas{flex:1;position:relative}
  #panel{width:300px;overflow:auto;border-left:1px solid #ccc}.bjs-powered-by{display:none}#canvas *{outline:none !important}`;

// Person is somebody in front of the modeler.
class Person {
  constructor(page, picture) {
    this.page = page;
    this.picture = picture;
    this.clicks = 0;
    this.typed = [];
  }

  async opens(templates) {
    await this.page.setViewportSize({ width, height });
    await this.page.setContent(`<!DOCTYPE html><style>${style}</style><div id="canvas"></div><div id="panel"></div>`);
    for (const name of ['diagram-js', 'bpmn-js', 'popup-menu', 'bpmn-font/css/bpmn-embedded', 'properties-panel', 'element-templates', 'element-template-chooser']) {
      await this.page.addStyleTag({ path: resolve(`camunda-bpmn-js/dist/assets/${name}.css`) });
    }
    await this.page.addScriptTag({ path: resolve('camunda-bpmn-js/dist/camunda-cloud-modeler.production.min.js') });
    await this.page.evaluate(async ([all, xml]) => {
      window.modeler = new BpmnModeler({ container: '#canvas', propertiesPanel: { parent: '#panel' } });
      modeler.get('elementTemplatesLoader').setTemplates(all);
      await modeler.importXML(xml);
    }, [templates, blank]);
  }

  // settled waits until what was done is drawn.
  settled() {
    return this.page.evaluate(() => new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 300)));
  }

  async click(locator) {
    this.clicks++;
    await locator.click({ timeout: 10_000 });
    await this.settled();
  }

  async type(text) {
    this.typed.push(text);
    await this.page.keyboard.type(text);
    await this.settled();
  }

  // press presses a key that ends what was typed.
  async press(key) {
    await this.page.keyboard.press(key);
    await this.settled();
  }

  box(id) {
    return this.page.evaluate((of) => {
      const { x, y, width: w, height: h } = modeler.get('elementRegistry').get(of);
      const view = modeler.get('canvas').viewbox();
      return { x: x - view.x, y: y - view.y, w, h };
    }, id);
  }

  selected() {
    return this.page.evaluate(() => modeler.get('selection').get()[0]?.id);
  }

  async selects(id) {
    if (await this.selected() === id) return;
    const { x, y, w } = await this.box(id);
    this.clicks++;
    await this.page.mouse.click(x + w / 2, y + 12);
    await this.settled();
    if (await this.selected() !== id) throw new Error(`${await this.selected()} is selected, not ${id}`);
  }

  pad(action) {
    return this.click(this.page.locator(`.djs-context-pad .entry[data-action="${action}"]`));
  }

  // appends draws the next element after one: a small picture of the context pad.
  async appends(from, action) {
    await this.selects(from);
    await this.pad(`append.${action}`);
    return this.selected();
  }

  // appendsTemplate searches in "Append element".
  async appendsTemplate(from, name, picture) {
    await this.selects(from);
    await this.pad('append');
    await this.type(name);
    if (picture) await this.picture(picture);
    await this.press('Enter');
    return this.selected();
  }

  // attaches drags an event from the palette to the lower border of an activity.
  async attaches(activity, share, picture) {
    const entry = await this.page.locator('.djs-palette .entry[data-action="create.intermediate-event"]').boundingBox();
    const { x, y, w, h } = await this.box(activity);
    this.clicks++;
    await this.page.mouse.move(entry.x + 20, entry.y + 20);
    await this.page.mouse.down();
    await this.page.mouse.move(entry.x + 60, entry.y + 60, { steps: 5 });
    await this.page.mouse.move(x + share * w, y + h, { steps: 10 });
    await this.settled();
    await this.page.mouse.up();
    await this.settled();
    await this.pad('replace');
    await this.type('error boundary');
    if (picture) await this.picture(picture);
    await this.press('Enter');
    return this.selected();
  }

  group(id) {
    return this.page.locator(`[data-group-id="group-${id}"]`);
  }

  async opensGroup(id) {
    const header = this.group(id).locator('.bio-properties-panel-group-header').first();
    if (!(await header.getAttribute('class')).includes('open')) await this.click(header);
  }

  // choosesTemplate chooses in the properties panel.
  async choosesTemplate(name, picture) {
    await this.click(this.page.getByRole('button', { name: 'Select' }));
    if (await this.page.locator('.djs-popup-search input').isVisible()) await this.type(name);
    if (picture) await this.picture(picture);
    await this.click(this.page.locator('.djs-popup .entry', { hasText: name }).first());
  }

  async namesError(code) {
    await this.opensGroup('error');
    this.clicks++;
    await this.group('error').locator('select').selectOption({ label: 'Create new ...' });
    await this.settled();
    for (const field of ['errorName', 'errorCode']) {
      await this.fills(this.group('error').locator(`input[name="${field}"]`), code);
    }
  }

  async fills(locator, text) {
    this.clicks++;
    this.typed.push(text);
    await locator.fill(text);
    await locator.blur();
    await this.settled();
  }

  async chooses(group, value) {
    this.clicks++;
    await this.group(`ElementTemplates__CustomProperties-${group}`).locator('select').first().selectOption(value);
    await this.settled();
  }

  // connects draws a flow to an element that is there.
  async connects(from, to) {
    await this.selects(from);
    await this.pad('connect');
    const { x, y, w, h } = await this.box(to);
    this.clicks++;
    await this.page.mouse.move(x + w / 2, y + h / 2, { steps: 5 });
    await this.settled();
    await this.page.mouse.click(x + w / 2, y + 12);
    await this.settled();
    await this.press('Escape');
  }

  // drags moves an element up or down, to the column of another one.
  async drags(id, column, by) {
    const { x, y, w, h } = await this.box(id);
    const over = await this.box(column);
    this.clicks++;
    await this.press('Escape'); // the name of a new element is being edited
    // Near the lower edge, where no flow crosses it.
    const grip = y + h - 10;
    await this.page.mouse.move(x + w / 2, grip);
    await this.page.mouse.down();
    await this.page.mouse.move(x + w / 2 - 20, grip - 20, { steps: 5 });
    await this.page.mouse.move(over.x + over.w / 2, grip + by, { steps: 10 });
    await this.settled();
    await this.page.mouse.up();
    await this.settled();
  }

  // names writes on an element, after a double click.
  async names(id, name) {
    const { x, y, w } = await this.box(id);
    this.clicks++;
    await this.page.mouse.dblclick(x + w / 2, y + 12);
    await this.settled();
    await this.type(name);
    await this.page.mouse.click(700, 600);
    await this.settled();
  }

  // writesCondition selects the flow between two elements and writes its condition.
  async writesCondition(from, to, expression) {
    const { x, y } = await this.page.evaluate(([a, b]) => {
      const get = (id) => modeler.get('elementRegistry').get(id);
      const { waypoints } = get(a).outgoing.find((flow) => flow.target === get(b));
      const [one, two] = waypoints.slice(-2);
      const view = modeler.get('canvas').viewbox();
      return { x: (one.x + two.x) / 2 - view.x, y: (one.y + two.y) / 2 - view.y };
    }, [from, to]);
    this.clicks++;
    await this.page.mouse.click(x, y);
    await this.settled();
    const editor = this.group('condition').locator('.cm-content');
    if (!await editor.isVisible()) await this.opensGroup('condition');
    await this.click(editor);
    await this.type(expression.slice(1));
    await this.page.evaluate(() => { document.querySelector('.bio-properties-panel-scroll-container').scrollTop = 0; });
    await this.settled();
    const written = await this.page.evaluate(([a, b]) => {
      const flow = modeler.get('elementRegistry').get(a).outgoing.find(({ target }) => target.id === b);
      return flow.businessObject.conditionExpression?.body;
    }, [from, to]);
    if (written !== expression) throw new Error(`the condition is ${written}, not ${expression}`);
  }
}

// wires does what the page says, step by step.
async function wires(person, text) {
  const { page } = person;
  await person.click(person.group('general').locator('.bio-properties-panel-group-header'));
  await person.fills(page.locator('input[name="id"]'), text.process);

  const join = await person.appends('StartEvent_1', 'gateway');
  await person.appends(join, 'append-task');
  await person.choosesTemplate(text.submit, '1-submit');
  const call = await person.selected();
  await person.appends(call, 'end-event');

  const exhausted = await person.attaches(call, 0.95, '2-error');
  await person.choosesTemplate(text.exhausted, '3-template');
  await person.namesError('MAX_RETRIES_EXCEEDED');
  await person.picture('4-code');

  const review = await person.appendsTemplate(exhausted, text.review);
  await person.picture('5-person');
  const gateway = await person.appends(review, 'gateway');
  await person.names(gateway, text.question);

  const givenUp = await person.appendsTemplate(gateway, text.record);
  await person.chooses('outcome', 'ABANDONED');
  await person.appends(givenUp, 'end-event');

  const again = await person.appendsTemplate(gateway, text.record);
  await person.drags(again, gateway, -290);
  await person.connects(again, join);
  await person.selects(again);
  await person.chooses('outcome', 'RESUBMITTED');
  await person.picture('6-again');

  const permanent = await person.attaches(call, 0.05);
  await person.choosesTemplate(text.permanent);
  await person.namesError('PERMANENT_ERROR');
  const correct = await person.appendsTemplate(permanent, text.correct);
  await person.drags(correct, correct, 110);
  await person.connects(correct, gateway);

  await person.writesCondition(gateway, again, '=manualDecision in ("RESUBMIT", "CORRECT")');
  await person.picture('7-condition');
  await person.writesCondition(gateway, givenUp, '=manualDecision = "ABANDON"');
  await person.picture('8-done');
}

// takesPictures returns what takes a picture: of the whole window, of the part that a step is about, or of the model alone.
function takesPictures(page, suffix) {
  const parts = {
    '1-submit': [130, 0, width, 500], '2-error': [0, 0, 960, 420], '3-template': [130, 0, width, 520],
    '4-code': [130, 0, width, height], '5-person': [130, 0, width, 470], '6-again': [130, 0, width, height], '7-condition': [130, 0, width, 560],
  };
  return async (name) => {
    // A label that the font of this machine breaks within a word.
    await page.evaluate(() => {
      for (const { label } of modeler.get('elementRegistry').filter((e) => e.type === 'bpmn:BoundaryEvent' && e.label?.width < 90)) {
        modeler.get('modeling').resizeShape(label, { x: label.x - (90 - label.width) / 2, y: label.y, width: 90, height: label.height });
      }
    });
    const [left, top, right, bottom] = parts[name] ?? await model(page);
    const clip = { x: left, y: top, width: right - left, height: bottom - top };
    await page.screenshot({ path: join(images, `modeling-${name}${suffix}.png`), clip });
  };
}

// model shows the whole model, nothing selected, and returns where it is.
function model(page) {
  return page.evaluate(() => {
    const get = (service) => modeler.get(service);
    const gateway = get('elementRegistry').find((e) => e.type === 'bpmn:ExclusiveGateway' && e.label);
    get('modeling').moveShape(gateway.label, { x: gateway.x + 35 - gateway.label.x, y: gateway.y - 12 - gateway.label.y });
    get('selection').select([]);
    const { x, y, width: w, height: h } = get('canvas').viewbox().inner;
    get('canvas').viewbox({ x: x - 120, y: y - 20, width: get('canvas').getSize().width, height: get('canvas').getSize().height });
    return [120, 0, 120 + w + 20, h + 40].map((edge) => Math.min(edge, 990));
  });
}

// inputs returns the SHA-256 of each file that the pictures are made from, as sha256sum writes it.
async function inputs() {
  const folder = 'bpmn/.camunda/element-templates/';
  const templates = (await readdir(join(root, folder))).filter((name) => name.endsWith('.json')).sort();
  const lines = ['tools/models/steps.mjs', ...templates.map((name) => folder + name)].map(async (path) => {
    const sum = createHash('sha256').update(await readFile(join(root, path))).digest('hex');
    return `${sum}  ${path}\n`;
  });
  return (await Promise.all(lines)).join('');
}

async function main([folder]) {
  const browser = await launch();
  try {
    const templates = await readTemplates();
    for (const [language, text] of Object.entries(texts)) {
      const page = await browser.newPage({ deviceScaleFactor: 1.25 });
      const person = new Person(page, folder ? () => {} : takesPictures(page, text.suffix));
      await person.opens(templates.filter(({ id }) => id.endsWith(`.${language}`)));
      await wires(person, text);
      console.log(`${text.process}: ${person.clicks} clicks, ${person.typed.length} texts typed`);
      if (folder) await writeFile(join(folder, `${text.process}.bpmn`), (await page.evaluate(() => modeler.saveXML({ format: true }))).xml);
      await page.close();
    }
    if (!folder) await writeFile(join(images, 'modeling.sha256'), await inputs());
  } finally {
    await browser.close();
  }
}

main(process.argv.slice(2)).catch((error) => {
  console.error(`steps: ${error.message}`);
  process.exitCode = 1;
});
