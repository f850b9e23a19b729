import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../guest');

/** What an image for runners has in it (docs/guest.md), by where it lies there. */
export const guestScripts = (): Readonly<Record<string, string>> => ({
  'usr/local/libexec/tartan-runner/tartan-runner.sh': readFileSync(join(folder, 'tartan-runner.sh'), 'utf8'),
  'usr/local/libexec/tartan-runner/job-started.sh': readFileSync(join(folder, 'job-started.sh'), 'utf8'),
});
