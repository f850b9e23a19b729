import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { guestNames } from '@tartan/api';

/** The program of all guests: records each boot, and runs until the test ends it. */
export interface GuestWork {
  readonly program: string;
  /** How often this virtual machine was booted. */
  boots(vm: string): number;
  /** Those that were booted from a used disk. */
  bootedFromUsedDisk(): readonly string[];
  /** Its n-th boot, counted from 1, ends with this exit code: now, or as soon as it boots. */
  end(vm: string, boot: number, code: number): void;
}

const linesOf = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];

export const createGuestWork = (folder: string): GuestWork => {
  const boots = join(folder, 'boots');
  const bootedFromUsedDisk = join(folder, 'booted-from-used-disk');
  const results = join(folder, 'results');
  return {
    program: [
      'vm=${PWD%/guest} vm=${vm##*/}',
      `[ ! -e used ] || echo "$vm" >>"${bootedFromUsedDisk}"`,
      ': >used',
      `echo "$vm" >>"${boots}"`,
      `boot=$(grep -c "^$vm$" "${boots}")`,
      `until [ -f "${results}/$vm/$boot" ]; do [ -d "${folder}" ] || exit; sleep 0.1; done`,
      `cp "${results}/$vm/$boot" "Volumes/My Shared Files/${guestNames.shares.status}/${guestNames.result}"`,
      'shutdown -h now',
    ].join('\n'),
    boots: (vm) => linesOf(boots).filter((line) => line === vm).length,
    bootedFromUsedDisk: () => linesOf(bootedFromUsedDisk),
    end: (vm, boot, code) => {
      const file = join(results, vm, String(boot));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${code}\n`);
    },
  };
};
