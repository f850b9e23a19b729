import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** An image with a few programs of this machine, and their libraries. */
export const tinyImage = (folder: string): void => {
  const programs = ['/bin/sh', '/bin/sleep', '/bin/cat'];
  const libraries = programs.flatMap((program) => {
    const listed = execFileSync('ldd', [program], { encoding: 'utf8' });
    return [...listed.matchAll(/(\/\S+) \(0x/g)].map((match) => match[1] ?? '');
  });
  for (const file of new Set([...programs, ...libraries])) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    copyFileSync(file, join(folder, file));
  }
};
