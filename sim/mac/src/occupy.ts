import { readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { processStart } from './process-start.ts';
import { replaceAtOnce } from './replace-file.ts';

/** That a process of this machine plays a Mac. */
export interface Occupied {
  /** Who played it before was killed and cleared nothing away. */
  readonly afterPowerCut: boolean;
  leave(): void;
}

const read = (file: string): { pid: number; start: string } | undefined => {
  try {
    const [pid = '', ...start] = readFileSync(file, 'utf8').trim().split(' ');
    return { pid: Number(pid), start: start.join(' ') };
  } catch {
    return undefined;
  }
};

/** Takes a Mac for this process. Two that play the same one would end each other's processes. */
export const occupy = (file: string): Occupied => {
  const before = read(file);
  if (before !== undefined && processStart(before.pid) === before.start) {
    throw new Error(
      `The Mac in ${dirname(dirname(file))} is on already, in process ${before.pid}. Stop it there, or choose another folder.`,
    );
  }
  replaceAtOnce(file, `${process.pid} ${processStart(process.pid) ?? ''}\n`);
  let isMine = true;
  return {
    afterPowerCut: before !== undefined,
    leave: () => {
      // Somebody else may have come in since.
      if (isMine) rmSync(file, { force: true });
      isMine = false;
    },
  };
};
