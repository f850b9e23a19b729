import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../guest');

/** The scripts of an image for runners (docs/guest.md), by their path in the image. */
export const guestScripts = (): Readonly<Record<string, string>> => ({
  'usr/local/libexec/tartan-runner/tartan-runner.sh': readFileSync(join(folder, 'tartan-runner.sh'), 'utf8'),
  'usr/local/libexec/tartan-runner/job-started.sh': readFileSync(join(folder, 'job-started.sh'), 'utf8'),
});
