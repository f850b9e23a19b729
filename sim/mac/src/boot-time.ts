import { readFileSync, writeFileSync } from 'node:fs';

const readNumber = (file: string): number => {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
};

/** The moment of a new boot, as kern.boottime has it: whole seconds, and never the same as that of the boot before, kept in `file`. */
export const nextBootTime = (file: string, now: number): number => {
  const bootTime = Math.max(Math.floor(now / 1000) * 1000, readNumber(file) + 1000);
  writeFileSync(file, String(bootTime));
  return bootTime;
};
