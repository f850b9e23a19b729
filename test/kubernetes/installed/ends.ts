import { readFileSync } from 'node:fs';

/** The last characters of each file, below its name. */
export const ends = (files: readonly string[], characters: number): string =>
  files.map((name) => `== ${name}\n${readFileSync(name, 'utf8').slice(-characters)}`).join('\n');
