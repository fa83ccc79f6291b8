// Validates the element templates against Camunda's schema. Its warnings do not count: with feel "required" it calls a value
// deprecated whether it begins with "=" or not.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { validateZeebe } from '@bpmn-io/element-templates-validator';

const folder = fileURLToPath(new URL('../../bpmn/.camunda/element-templates/', import.meta.url));
const files = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
if (files.length === 0) throw new Error(`no element template in ${folder}`);
for (const file of files) {
  const { valid, errors } = validateZeebe(JSON.parse(await readFile(join(folder, file), 'utf8')));
  if (valid) continue;
  process.exitCode = 1;
  for (const { instancePath, message } of errors) console.error(`${file}: ${instancePath ?? ''} ${message}`);
}
