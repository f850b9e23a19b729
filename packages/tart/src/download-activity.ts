import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A picture of what lies in tart's folder for downloads: it changes whenever a pull has written something. Never rejects; what vanishes
 * while it looks is a change as well.
 */
export const downloadActivity = async (home: string): Promise<string> => {
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
