// Draws two blank processes in Camunda's modeler, applies the element templates to them as a person does, and writes the
// models: node apply.mjs FOLDER. The tests on a broker run them. With --pictures, a picture of every templated element and
// its properties panel is written next to them.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { launch } from './browser.mjs';

const folder = fileURLToPath(new URL('../../bpmn/.camunda/element-templates/', import.meta.url));
const resolve = createRequire(import.meta.url).resolve;

// The drawings. An element with a template is blank until the template is applied: a plain task, or an event without a
// definition. A template cannot make an error event nor set its code, so these are set by hand. choose and enter are made in
// the properties panel: what to choose in the first list of a group, and what to enter in the first field of a group.
export const drawings = {
  TemplatesCall: {
    shapes: [
      { id: 'StartEvent', type: 'bpmn:StartEvent', at: [150, 160] },
      { id: 'Call', type: 'bpmn:Task', at: [350, 160], template: 'submit' },
      { id: 'EndEvent_ClaimSubmitted', type: 'bpmn:EndEvent', at: [560, 160] },
      { id: 'Event_Exhausted', on: 'Call', at: [320, 200], template: 'retries-exhausted', error: 'MAX_RETRIES_EXCEEDED' },
      { id: 'Task_ReviewClaim', type: 'bpmn:Task', at: [520, 320], template: 'review-claim' },
      { id: 'EndEvent_Reviewed', type: 'bpmn:EndEvent', at: [700, 320] },
      { id: 'Event_Permanent', on: 'Call', at: [380, 200], template: 'permanent-error', error: 'PERMANENT_ERROR' },
      { id: 'Task_CorrectData', type: 'bpmn:Task', at: [520, 450], template: 'correct-claim-data' },
      { id: 'EndEvent_Corrected', type: 'bpmn:EndEvent', at: [700, 450] },
    ],
    flows: [
      ['StartEvent', 'Call'], ['Call', 'EndEvent_ClaimSubmitted'],
      ['Event_Exhausted', 'Task_ReviewClaim'], ['Task_ReviewClaim', 'EndEvent_Reviewed'],
      ['Event_Permanent', 'Task_CorrectData'], ['Task_CorrectData', 'EndEvent_Corrected'],
    ],
  },
  TemplatesLoop: {
    shapes: [
      { id: 'StartEvent', type: 'bpmn:StartEvent', at: [150, 160] },
      { id: 'Gateway_Join', type: 'bpmn:ExclusiveGateway', at: [250, 160] },
      { id: 'Task_SubmitClaim', type: 'bpmn:ServiceTask', at: [380, 160], job: 'submit-claim' },
      { id: 'Task_RecordSubmitted', type: 'bpmn:Task', at: [560, 160], template: 'record-outcome', choose: { outcome: 'SUBMITTED' } },
      { id: 'EndEvent_ClaimSubmitted', type: 'bpmn:EndEvent', at: [720, 160] },
      { id: 'Event_SubmissionFailed', on: 'Task_SubmitClaim', at: [400, 200], template: 'submission-failed' },
      { id: 'Task_AnalyzeRetry', type: 'bpmn:Task', at: [560, 300], template: 'analyze-retry', choose: { policy: 'tiss' }, enter: { overrides: '1' } },
      { id: 'Event_WaitBackoff', type: 'bpmn:IntermediateThrowEvent', at: [250, 300], template: 'wait-for-retry' },
      { id: 'Event_Exhausted', on: 'Task_AnalyzeRetry', at: [540, 340], template: 'retries-exhausted', error: 'MAX_RETRIES_EXCEEDED' },
      { id: 'Task_RecordAbandoned', type: 'bpmn:Task', at: [720, 440], template: 'record-outcome', choose: { outcome: 'ABANDONED' } },
      { id: 'EndEvent_Abandoned', type: 'bpmn:EndEvent', at: [880, 440] },
      { id: 'Event_Permanent', on: 'Task_AnalyzeRetry', at: [590, 340], template: 'permanent-error', error: 'PERMANENT_ERROR' },
      { id: 'Task_CheckStatus', type: 'bpmn:Task', at: [720, 560], template: 'check-status' },
      { id: 'EndEvent_Refused', type: 'bpmn:EndEvent', at: [880, 560] },
    ],
    flows: [
      ['StartEvent', 'Gateway_Join'], ['Gateway_Join', 'Task_SubmitClaim'], ['Task_SubmitClaim', 'Task_RecordSubmitted'],
      ['Task_RecordSubmitted', 'EndEvent_ClaimSubmitted'], ['Event_SubmissionFailed', 'Task_AnalyzeRetry'],
      ['Task_AnalyzeRetry', 'Event_WaitBackoff'], ['Event_WaitBackoff', 'Gateway_Join'],
      ['Event_Exhausted', 'Task_RecordAbandoned'], ['Task_RecordAbandoned', 'EndEvent_Abandoned'],
      ['Event_Permanent', 'Task_CheckStatus'], ['Task_CheckStatus', 'EndEvent_Refused'],
    ],
  },
};

// blank is a process without elements.
const blank = (id) => `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI" xmlns:modeler="http://camunda.org/schema/modeler/1.0" id="Definitions_${id}" targetNamespace="http://hospital.example/bpmn" modeler:executionPlatform="Camunda Cloud" modeler:executionPlatformVersion="8.5.0">
  <bpmn:process id="${id}" isExecutable="true" />
  <bpmndi:BPMNDiagram id="BPMNDiagram_1"><bpmndi:BPMNPlane id="BPMNPlane_1" bpmnElement="${id}" /></bpmndi:BPMNDiagram>
</bpmn:definitions>`;

export async function readTemplates() {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  return Promise.all(files.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8'))));
}

// openModeler opens the modeler with its properties panel and the templates, as window.modeler of the page.
export async function openModeler(page, templates) {
  await page.setViewportSize({ width: 1500, height: 900 });
  await page.setContent(`<!doctype html><style>body{margin:0;display:flex;height:100vh;font-family:sans-serif}#canvas{flex:1}#panel{width:400px;overflow:auto;border-left:1px solid #ccc}</style><div id="canvas"></div><div id="panel"></div>`);
  for (const name of ['diagram-js', 'bpmn-js', 'bpmn-font/css/bpmn-embedded', 'properties-panel', 'element-templates']) {
    await page.addStyleTag({ path: resolve(`camunda-bpmn-js/dist/assets/${name}.css`) });
  }
  await page.addScriptTag({ path: resolve('camunda-bpmn-js/dist/camunda-cloud-modeler.production.min.js') });
  await page.evaluate((all) => {
    window.faults = [];
    window.modeler = new BpmnModeler({ container: '#canvas', propertiesPanel: { parent: '#panel' } });
    modeler.on('elementTemplates.errors', ({ errors }) => faults.push(...errors.map((error) => error.message)));
    modeler.get('elementTemplatesLoader').setTemplates(all);
    if (faults.length > 0) throw new Error(faults.join('; '));
  }, templates);
}

// newProcess replaces the open diagram.
export async function newProcess(page, id) {
  await page.evaluate(async ([name, xml]) => {
    const { warnings } = await modeler.importXML(xml);
    if (warnings.length > 0) throw new Error(`${name}: ${warnings.map((w) => w.message).join('; ')}`);
  }, [id, blank(id)]);
}

// draw adds one shape of a drawing, without its template.
export async function draw(page, shape) {
  await page.evaluate(({ id, type, at: [x, y], on, job }) => {
    const get = (service) => modeler.get(service);
    const parent = on ? get('elementRegistry').get(on) : get('canvas').getRootElement();
    const drawn = get('elementFactory').createShape(on
      ? { type: 'bpmn:BoundaryEvent', eventDefinitionType: 'bpmn:ErrorEventDefinition' } : { type });
    const created = get('modeling').createShape(drawn, { x, y }, parent, { attach: Boolean(on) });
    get('modeling').updateProperties(created, { id });
    if (!job) return;
    const extensionElements = get('bpmnFactory').create('bpmn:ExtensionElements', {
      values: [get('bpmnFactory').create('zeebe:TaskDefinition', { type: job, retries: '3' })],
    });
    get('modeling').updateProperties(created, { extensionElements, name: job });
  }, shape);
}

// apply applies a template to a drawn shape and makes its choices in the panel.
export async function apply(page, { id, template, error, choose = {}, enter = {} }, language) {
  await page.evaluate(([element, templateID, code]) => {
    const get = (service) => modeler.get(service);
    const shape = () => get('elementRegistry').get(element);
    const [found] = get('elementTemplates').getLatest(templateID, shape());
    if (!found) throw new Error(`${element}: the modeler does not offer ${templateID}`);
    get('elementTemplates').applyTemplate(shape(), found);
    if (get('elementTemplates').get(shape())?.id !== templateID) throw new Error(`${element}: ${templateID} was not applied`);
    if (code) {
      const definitions = modeler.getDefinitions();
      let known = definitions.get('rootElements').find((one) => one.errorCode === code);
      if (!known) {
        known = get('bpmnFactory').create('bpmn:Error', { name: code, errorCode: code });
        known.$parent = definitions;
        get('modeling').updateModdleProperties(shape(), definitions, { rootElements: [...definitions.get('rootElements'), known] });
      }
      get('modeling').updateModdleProperties(shape(), shape().businessObject.eventDefinitions[0], { errorRef: known });
    }
    get('selection').select(shape());
  }, [id, `hospital.example.analyze-retry.${template}.${language}`, error]);
  const inGroup = (group, what) => page.locator(`[data-group-id="group-ElementTemplates__CustomProperties-${group}"] ${what}`).first();
  for (const [group, value] of Object.entries(choose)) {
    await inGroup(group, 'select').selectOption(value);
  }
  for (const [group, text] of Object.entries(enter)) {
    // A group stays open for the next element.
    if (!await inGroup(group, 'input').isVisible()) await inGroup(group, '.bio-properties-panel-group-header-title').click();
    await inGroup(group, 'input').fill(text);
  }
}

// connect draws the flows.
export async function connect(page, flows) {
  await page.evaluate((pairs) => {
    const byID = (id) => modeler.get('elementRegistry').get(id);
    for (const [from, to] of pairs) modeler.get('modeling').connect(byID(from), byID(to));
  }, flows);
}

// save returns the model, after it has been read again without a warning.
export async function save(page) {
  return page.evaluate(async () => {
    const { xml } = await modeler.saveXML({ format: true });
    const { warnings } = await modeler.importXML(xml);
    if (warnings.length > 0 || faults.length > 0) throw new Error([...warnings.map((w) => w.message), ...faults].join('; '));
    return xml;
  });
}

async function main([out, pictures]) {
  if (!out) throw new Error('usage: node apply.mjs FOLDER [--pictures]');
  await mkdir(out, { recursive: true });
  const browser = await launch();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    const thrown = [];
    page.on('pageerror', (error) => thrown.push(error.message));
    await openModeler(page, await readTemplates());
    for (const language of ['pt-BR', 'en']) {
      for (const [process, { shapes, flows }] of Object.entries(drawings)) {
        const id = `${process}_${language}`;
        await newProcess(page, id);
        for (const shape of shapes) {
          await draw(page, shape);
          if (!shape.template) continue;
          await apply(page, shape, language);
          if (pictures) await page.screenshot({ path: join(out, `${id}-${shape.id}.png`) });
        }
        await connect(page, flows);
        await writeFile(join(out, `${id}.bpmn`), await save(page));
      }
    }
    if (thrown.length > 0) throw new Error(thrown.join('; '));
  } finally {
    await browser.close();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  main(process.argv.slice(2)).catch((error) => {
    console.error(`apply: ${error.message}`);
    process.exitCode = 1;
  });
}
