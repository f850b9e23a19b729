import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadFile } from '../requirements.ts';

export const repositoryFile: ReadFile = (path) => {
  try {
    return readFileSync(join(import.meta.dirname, '../../../../..', path), 'utf8');
  } catch {
    return undefined;
  }
};
