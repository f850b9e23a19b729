import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Mac } from '@tartan/sim-mac';
import { textAt } from './launched.ts';

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

/** The summary of the steps that this Mac bears the stamps of, as the agent publishes it on its Node (docs/host-steps.md). */
export const stampSummary = (mac: Pick<Mac, 'path'>): string => {
  const folder = mac.path('/var/db/tartan/steps');
  const lines = namesIn(folder)
    // One that is just being written has a dot before its name.
    .filter((step) => !step.startsWith('.'))
    .flatMap((step) => {
      const hash = textAt(join(folder, step));
      return hash === undefined ? [] : [`${step}\t${hash.trimEnd()}\n`];
    });
  return createHash('sha256').update(lines.sort().join('')).digest('hex').slice(0, 16);
};
