// Lints the models and the forms for Camunda 8.5 and every later version whose rules the linters have. The rules of 8.5 are
// in .bpmnlintrc; the others differ from it by the name of Camunda's set alone.
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire, register } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { files } from './files.mjs';

const here = import.meta.dirname;
const require = createRequire(import.meta.url);

const first = [8, 5];

// versions returns the versions of Camunda, from 8.5 on, for which bpmnlint has rules.
function versions() {
  const configs = Object.keys(require('bpmnlint-plugin-camunda-compat').configs);
  return configs
    .map((name) => name.match(/^camunda-cloud-(\d+)-(\d+)$/))
    .filter((match) => match && Number(match[1]) === first[0] && Number(match[2]) >= first[1])
    .map((match) => `${match[1]}.${match[2]}`)
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

async function lintModels(version, paths) {
  // Next to .bpmnlintrc, because the linter looks for its plugins from the place of its settings.
  const folder = await mkdtemp(join(here, 'node_modules', '.bpmnlint-'));
  try {
    const config = join(folder, 'config.json');
    const settings = await readFile(join(here, '.bpmnlintrc'), 'utf8');
    await writeFile(config, settings.replace('camunda-cloud-8-5', `camunda-cloud-${version.replace('.', '-')}`));
    const bin = join(dirname(require.resolve('bpmnlint/package.json')), 'bin', 'bpmnlint.js');
    const run = spawnSync(process.execPath, [bin, '--max-warnings=0', `--config=${config}`, ...paths], { stdio: 'inherit', cwd: here });
    return run.status === 0;
  } finally {
    await rm(folder, { recursive: true });
  }
}

// The linter of forms is made for bundlers: its modules import one another without an ending, and its package does not call
// them modules.
register(`data:text/javascript,${encodeURIComponent(`
  import { existsSync, statSync } from 'node:fs';
  import { fileURLToPath } from 'node:url';
  const ours = (url) => url?.includes('/@camunda/form-linting/');
  export async function resolve(name, context, next) {
    if (!ours(context.parentURL) || !name.startsWith('.')) return next(name, context);
    const url = new URL(name, context.parentURL).href;
    for (const ending of ['', '.js', '/index.js']) {
      const path = fileURLToPath(url + ending);
      if (existsSync(path) && statSync(path).isFile()) return next(url + ending, context);
    }
    return next(name, context);
  }
  export async function load(url, context, next) {
    return next(url, ours(url) ? { ...context, format: 'module' } : context);
  }`)}`);

// lintForms lints the forms as forms of a version. It returns null for a version that the linter does not know: it has no finding
// then, whatever the form.
async function lintForms(version, paths) {
  const { FormLinter } = await import('@camunda/form-linting');
  const { getFormJSVersion } = await import('@camunda/form-linting/lib/config/formVersion.js');
  const target = { executionPlatform: 'Camunda Cloud', executionPlatformVersion: `${version}.0` };
  if (!getFormJSVersion(target)) return null;
  let clean = true;
  for (const path of paths) {
    for (const { id, message, category } of new FormLinter().lint({ ...JSON.parse(await readFile(path, 'utf8')), ...target })) {
      console.error(`${basename(path)}: ${id}: ${category}: ${message}`);
      clean = false;
    }
  }
  return clean;
}

async function main() {
  const [models, forms] = [await files('.bpmn'), await files('.form')];
  for (const version of versions()) {
    const [model, form] = [await lintModels(version, models), await lintForms(version, forms)];
    if (!model || form === false) throw new Error(`not without a finding for Camunda ${version}`);
    if (version === first.join('.') && form === null) throw new Error(`the linter knows no forms of Camunda ${version}`);
    console.log(`Camunda ${version}: ${models.length} models${form === null ? '; its forms are not known to the linter' : `, ${forms.length} forms`}`);
  }
}

main().catch((error) => {
  console.error(`lint: ${error.message}`);
  process.exitCode = 1;
});
