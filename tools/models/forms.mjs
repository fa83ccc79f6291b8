// Draws the forms filled in to docs/images/form-*.png, and checks in the same browser what a person can send from them
// (`node forms.mjs --check` does only that). A picture carries the SHA-256 of its form, so that a test can tell a stale one
// without a browser.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { launch } from './browser.mjs';
import { files, images } from './files.mjs';

const require = createRequire(import.meta.url);
const dist = join(require.resolve('@bpmn-io/form-js/package.json'), '..', 'dist');

// The variables of a claim whose retries are used up, as a process has them when its task begins.
const exhausted = {
  claimId: 'CLM-2026-004215', insurer: 'Operadora Vida Plena (ANS 312345)', amount: 12480.5,
  retryCount: 5, maxRetries: 5, retryReason: 'Unknown error, all 5 retries used', errorClassification: 'TRANSIENT',
  originalError: 'HTTP 503 Service Unavailable: o autorizador da operadora não respondeu',
  retryDecision: { policy: 'tiss', ruleId: 'http.away', matchedCode: '503', matchedMeaning: 'Service Unavailable', reason: 'COUNT' },
  stoppedAt: '2026-11-23T16:40:12.345@America/Sao_Paulo',
  manualDecision: null, justification: null, decidedBy: null, decisionProblem: null,
};

// A claim that the insurer refused, in the task that comes back after an answer that was no decision.
const refused = {
  ...exhausted,
  retryCount: 0, errorClassification: 'PERMANENT',
  originalError: '<codigoGlosa>1011</codigoGlosa><descricaoGlosa>identificação do beneficiário inconsistente</descricaoGlosa>',
  retryDecision: {
    policy: 'tiss', ruleId: 'tiss.glosa', matchedCode: '1011', matchedMeaning: 'IDENTIFICAÇÃO DO BENEFICIÁRIO NÃO CONSISTENTE', reason: 'PERMANENT',
  },
  decisionProblem: 'Essa decisão não existe. Escolha reenviar (RESUBMIT), corrigir (CORRECT) ou abandonar (ABANDON) e informe a justificativa.',
};

const why = 'A operadora confirmou por telefone que o portal voltou.';

const pictures = [
  { name: 'form-review-claim', form: 'review-claim', data: { ...exhausted, manualDecision: 'RESUBMIT', justification: why, decidedBy: 'maria.silva' } },
  {
    name: 'form-correct-data', form: 'correct-data',
    data: { ...refused, manualDecision: 'CORRECT', justification: 'Carteirinha corrigida conforme o cadastro.', correctedData: { numeroCarteira: '00112233445566778' } },
  },
];

async function schemas() {
  const found = new Map();
  for (const path of await files('.form')) found.set(basename(path, '.form'), await readFile(path));
  return found;
}

// open shows a form with a task's variables, about as wide as Tasklist does.
async function open(page, schema, data) {
  await page.evaluate(async ([source, variables]) => {
    document.body.innerHTML = '<div id="form"></div>';
    window.form = new FormViewer.Form({ container: document.querySelector('#form') });
    const { warnings } = await window.form.importSchema(JSON.parse(source), variables);
    if (warnings.length > 0) throw new Error(warnings.map((w) => w.message ?? w).join('; '));
    // Fields register themselves, to be validated and sent, once they are drawn.
    for (let frame = 0; frame < 2; frame++) await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
  }, [schema.toString('utf8'), data]);
}

// submit sends the form and returns the variables, and the errors by the keys of their fields.
function submit(page) {
  return page.evaluate(() => {
    const { data, errors } = window.form.submit();
    const keys = {};
    for (const [id, messages] of Object.entries(errors)) keys[window.form.get('formFieldRegistry').get(id).key] = messages;
    return { data, errors: keys };
  });
}

const text = (page) => page.evaluate(() => document.querySelector('#form').innerText);

// check sees what a person sees, and can send.
async function check(page, forms) {
  for (const [name, schema] of forms) {
    const values = JSON.parse(schema).components.find((c) => c.key === 'manualDecision').values.map((v) => v.value);

    await open(page, schema, exhausted);
    assert.deepEqual(Object.keys((await submit(page)).errors).sort(), ['justification', 'manualDecision'], `${name}: what is missing in an empty form`);

    // What is no choice is not even shown as one.
    for (const decision of ['Reenviar', 'resubmit', '', 1, { a: 1 }]) {
      await open(page, schema, { ...exhausted, manualDecision: decision, justification: why });
      assert.deepEqual(Object.keys((await submit(page)).errors), ['manualDecision'], `${name}: the decision ${JSON.stringify(decision)}`);
    }
    for (const decision of values) {
      for (const justification of [null, '', 'curta', 'x'.repeat(501)]) {
        await open(page, schema, { ...exhausted, manualDecision: decision, justification });
        assert.deepEqual(Object.keys((await submit(page)).errors), ['justification'], `${name}: ${decision} with ${JSON.stringify(justification)}`);
      }
      await open(page, schema, { ...exhausted, manualDecision: decision, justification: why });
      const sent = await submit(page);
      assert.deepEqual(sent.errors, {}, `${name}: ${decision} with a reason`);
      assert.equal(sent.data.manualDecision, decision);
      assert.equal(sent.data.justification, why);
      // Corrected data is asked for and sent with that choice alone.
      const corrected = decision === 'CORRECT';
      assert.equal('correctedData' in sent.data, corrected, `${name}: corrected data sent with ${decision}`);
      assert.equal((await text(page)).includes('Dados corrigidos'), corrected, `${name}: corrected data asked for with ${decision}`);
    }

    await open(page, schema, exhausted);
    assert.doesNotMatch(await text(page), /resposta anterior/, `${name}: a problem in a fresh task`);
    await open(page, schema, refused);
    const shown = await text(page);
    for (const part of ['CLM-2026-004215', 'glosa 1011: IDENTIFICAÇÃO DO BENEFICIÁRIO NÃO CONSISTENTE', 'nenhuma retentativa', 'O erro é permanente',
      '23/11/2026 às 16:40 (horário de Brasília)', 'A resposta anterior não foi aceita', 'Essa decisão não existe']) {
      assert.ok(shown.includes(part), `${name} does not show ${part}:\n${shown}`);
    }
    const words = { ...refused.retryDecision, ruleId: 'own.fault', matchedCode: 'certificado digital .. expirad*', matchedMeaning: 'certificado do hospital' };
    await open(page, schema, { ...refused, retryDecision: words });
    assert.ok((await text(page)).includes('\ncertificado digital … expirad…: certificado do hospital\n'), `${name}: the words of a phrase`);
    await open(page, schema, { ...refused, retryDecision: { ...words, matchedMeaning: undefined } });
    assert.ok((await text(page)).includes('\ncertificado digital … expirad…\n'), `${name}: a phrase without words`);
    await open(page, schema, { ...refused, retryDecision: { ...words, matchedCode: '', matchedMeaning: undefined } });
    assert.ok((await text(page)).includes('nenhum código conhecido'), `${name}: no code`);

    await open(page, schema, refused);
    assert.equal(await page.inputValue('textarea[id*="originalError" i]'), refused.originalError, `${name}: the error as received`);
    if (name !== 'review-job') {
      for (const part of [refused.insurer, 'R$ 12.480,50']) assert.ok(shown.includes(part), `${name} does not show ${part}:\n${shown}`);
    }

    for (const [amount, written] of [[0.5, 'R$ 0,50'], [999.999, 'R$ 1.000,00'], [1000, 'R$ 1.000,00'], [1234567.05, 'R$ 1.234.567,05'], ['12,50', '12,50'], [-3.5, '-3.5']]) {
      await open(page, schema, { ...exhausted, amount });
      assert.ok(name === 'review-job' || (await text(page)).includes(`Valor\n${written}\n`), `${name}: the amount ${amount}`);
    }

    // What was corrected before is shown again. Where nothing was, the form opens.
    for (const correctedData of [undefined, null, {}, { numeroCarteira: '1', other: 2 }]) {
      await open(page, schema, { ...exhausted, correctedData, manualDecision: 'CORRECT', justification: why });
      const { data } = await submit(page);
      assert.equal(data.correctedData?.numeroCarteira ?? '', name === 'review-job' ? '' : correctedData?.numeroCarteira ?? '', `${name}: ${JSON.stringify(correctedData)}`);
    }

    // A process that knows nothing of all this shows no empty headings, and nothing that is null.
    await open(page, schema, { claimId: 'CLM-1' });
    assert.doesNotMatch(await text(page), /null|undefined|NaN|\{\{|Operadora\n|Valor\n|Quando parou|como veio/, `${name}: without the variables`);
  }
}

// withText returns a PNG with a comment in front of its image data.
function withText(png, comment) {
  const body = Buffer.from(`tEXtComment\0${comment}`, 'latin1');
  const size = Buffer.alloc(4), sum = Buffer.alloc(4);
  size.writeUInt32BE(body.length - 4);
  sum.writeUInt32BE(crc32(body));
  const header = 8 + 25; // signature and IHDR
  return Buffer.concat([png.subarray(0, header), size, body, sum, png.subarray(header)]);
}

async function draw(page, forms) {
  for (const { name, form, data, submit: sent } of pictures) {
    const schema = forms.get(form);
    await open(page, schema, data);
    if (sent) await submit(page);
    const sha = createHash('sha256').update(schema).digest('hex');
    const picture = await page.locator('#form').screenshot();
    await writeFile(join(images, `${name}.png`), withText(picture, `source: ${form}.form sha256: ${sha}`));
    console.log(`docs/images/${name}.png`);
  }
}

async function main() {
  const forms = await schemas();
  const browser = await launch();
  try {
    const page = await browser.newPage({ deviceScaleFactor: 1.5, viewport: { width: 1366, height: 800 } });
    await page.addStyleTag({ path: join(dist, 'assets', 'form-js.css') });
    await page.addStyleTag({ content: 'body{margin:0;background:white}#form{width:880px;padding:8px 24px}.fjs-container{height:auto!important}' });
    await page.addScriptTag({ path: join(dist, 'form-viewer.umd.js') });
    await check(page, forms);
    console.log(`${forms.size} forms: what cannot be decided cannot be sent`);
    if (!process.argv.includes('--check')) await draw(page, forms);
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  console.error(`forms: ${error.message}`);
  process.exitCode = 1;
});
