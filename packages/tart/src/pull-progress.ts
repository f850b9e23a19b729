import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** How far a pull has come. */
export type PullProgress =
  /** Another pull from the same registry comes first. */
  | { readonly stage: 'waiting for lock' }
  | { readonly stage: 'manifest' }
  | { readonly stage: 'disk'; readonly percent: number; readonly compressedGb: number | undefined }
  | { readonly stage: 'NVRAM' }
  /** It is here already. */
  | { readonly stage: 'cached'; readonly image: string };

/** A longer line than tart ever writes: what comes then is thrown away until the next one. */
const maxLineLength = 4096;

/** Reads what `tart pull` writes, however it is cut into pieces. Lines it does not know are passed over. */
export const createPullParser = (report: (progress: PullProgress) => void): ((piece: string) => void) => {
  let pending = '';
  let compressedGb: number | undefined;
  const line = (raw: string): void => {
    const text = stripVTControlCharacters(raw).trim();
    const percent = /^(\d{1,3})%$/.exec(text)?.[1];
    const gigabytes = /^pulling disk \((\d+(?:\.\d+)?) GB compressed\)\.\.\.$/.exec(text)?.[1];
    const image = /^(\S+) image is already cached(?: and linked)?!/.exec(text)?.[1];
    if (percent !== undefined) {
      report({ stage: 'disk', percent: Math.min(100, Number(percent)), compressedGb });
    } else if (gigabytes !== undefined) {
      compressedGb = Number(gigabytes);
      report({ stage: 'disk', percent: 0, compressedGb });
    } else if (image !== undefined) report({ stage: 'cached', image });
    else if (text === 'waiting for lock...') report({ stage: 'waiting for lock' });
    else if (text === 'pulling manifest...') report({ stage: 'manifest' });
    else if (text === 'pulling NVRAM...') report({ stage: 'NVRAM' });
  };
  return (piece) => {
    const lines = (pending + piece).split(/[\r\n]+/);
    pending = (lines.pop() ?? '').slice(-maxLineLength);
    lines.forEach(line);
  };
};

/**
 * A picture of what lies in tart's folder for downloads: it changes whenever a pull has written something. Never rejects; what vanishes
 * while it looks is a change as well.
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
