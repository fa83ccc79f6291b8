// Where the models and the forms are.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const images = join(root, 'docs', 'images');

// files returns the files of the project's models, or of its forms, by their ending.
export async function files(ending) {
  const found = [];
  for (const folder of ['bpmn', 'examples']) {
    for (const file of (await readdir(join(root, folder))).sort()) {
      if (file.endsWith(ending)) found.push(join(root, folder, file));
    }
  }
  return found;
}
