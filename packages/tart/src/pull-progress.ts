import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** Progress of a pull. */
export type PullProgress =
  /** `waiting for lock`: another pull from the same registry is running. `cached`: the image is local already. */
  | { readonly stage: 'waiting for lock' | 'manifest' | 'NVRAM' | 'cached' }
  | { readonly stage: 'disk'; readonly percent: number };

const stages: readonly (readonly [RegExp, Exclude<PullProgress['stage'], 'disk'>])[] = [
  [/^\S+ image is already cached(?: and linked)?!/, 'cached'],
  [/^waiting for lock\.\.\.$/, 'waiting for lock'],
  [/^pulling manifest\.\.\.$/, 'manifest'],
  [/^pulling NVRAM\.\.\.$/, 'NVRAM'],
];

/** Longer than any line of tart: the rest of such a line is dropped. */
const maxLineLength = 4096;

/** Parses the output of `tart pull` in chunks. Ignores unknown lines. */
export const createPullParser = (report: (progress: PullProgress) => void): ((piece: string) => void) => {
  let pending = '';
  const line = (raw: string): void => {
    const text = stripVTControlCharacters(raw).trim();
    const percent = /^pulling disk \(\d+(?:\.\d+)? GB compressed\)\.\.\.$/.test(text)
      ? '0'
      : /^(\d{1,3})%$/.exec(text)?.[1];
    if (percent !== undefined) return report({ stage: 'disk', percent: Math.min(100, Number(percent)) });
    const [, stage] = stages.find(([pattern]) => pattern.test(text)) ?? [];
    if (stage !== undefined) report({ stage });
  };
  return (piece) => {
    const lines = (pending + piece).split(/[\r\n]+/);
    pending = (lines.pop() ?? '').slice(-maxLineLength);
    lines.forEach(line);
  };
};

/**
 * A fingerprint of tart's download folder: changes whenever a pull has written something. Never rejects; a file that disappears
 * meanwhile is a change too.
 */
export const downloadSnapshot = async (home: string): Promise<string> => {
  const folder = join(home, 'tmp');
  const files = await readdir(folder, { recursive: true }).catch((): string[] => []);
  const lines = await Promise.all(
    files.sort().map(async (file) => {
      const found = await stat(join(folder, file)).catch(() => undefined);
      return `${file} ${found?.mtimeMs ?? '-'} ${found?.blocks ?? '-'}`;
    }),
  );
  return lines.join('\n');
};
