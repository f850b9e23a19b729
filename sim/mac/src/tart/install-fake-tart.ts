import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FakeTartControls } from './controls.ts';
import { createControls } from './create-controls.ts';
import { fakeTart } from './fake-tart.ts';
import { createJournal, type TartJournal } from './journal.ts';
import { endProcessesOf, unplugVms } from './unplug.ts';

export interface FakeTart {
  /** The executable. */
  readonly path: string;
  /** TART_HOME. */
  readonly home: string;
  readonly controls: FakeTartControls;
  readonly journal: TartJournal;
  /** A local virtual machine, as if somebody had made it. */
  addVm(name: string): void;
  /** Ends every virtual machine that is on, as pulling the plug does. Safe to repeat. */
  unplug(): void;
}

/** As `tart create` leaves it: each with an identity of its own. */
const config = (identity: string): string => `{
  "version" : 1,
  "os" : "darwin",
  "arch" : "arm64",
  "cpuCountMin" : 4,
  "cpuCount" : 4,
  "memorySizeMin" : 4294967296,
  "memorySize" : 8589934592,
  "macAddress" : "7e:${identity.slice(0, 10).replaceAll(/..(?!$)/g, '$&:')}",
  "display" : {
    "width" : 1024,
    "height" : 768
  },
  "diskFormat" : "raw",
  "ecid" : "${identity.slice(0, 16)}",
  "hardwareModel" : "YnBsaXN0"
}
`;

/** Puts a fake `tart` with a TART_HOME of its own into `folder`. Guests boot in 20 ms and tart's second lasts 20 ms, unless told otherwise. */
export const installFakeTart = (
  folder: string,
  { version = '2.32.1' }: { readonly version?: string } = {},
): FakeTart => {
  const path = join(folder, 'bin', 'tart');
  const home = join(folder, 'home');
  const fake = join(home, '.fake');
  for (const made of [
    join(folder, 'bin'),
    join(home, 'vms'),
    join(home, 'tmp'),
    join(fake, 'running'),
    join(fake, 'leaked'),
  ])
    mkdirSync(made, { recursive: true });
  writeFileSync(path, fakeTart(version), { mode: 0o755 });
  const controls = createControls(fake);
  controls.host({ secondMs: 20 });
  controls.guest('_', { bootMs: 20 });
  return {
    path,
    home,
    controls,
    journal: createJournal(join(fake, 'journal')),
    addVm: (name) => {
      const vm = join(home, 'vms', name);
      mkdirSync(vm, { recursive: true });
      writeFileSync(join(vm, 'config.json'), config(createHash('sha256').update(name).digest('hex')));
      writeFileSync(join(vm, 'disk.img'), 'disk\n');
      writeFileSync(join(vm, 'nvram.bin'), '');
    },
    unplug: () => {
      endProcessesOf(path);
      unplugVms(home);
    },
  };
};

/** What macOS and SQLite say when a disk is full. The first has a curly apostrophe. */
export const noSpaceTexts = [
  'Error: Error Domain=NSCocoaErrorDomain Code=640 "There isn’t enough space."',
  "Error: there isn't enough space on the volume",
  'Error: database or disk is full (code: 13)',
  'Error: Error Domain=NSPOSIXErrorDomain Code=28 "No space left on device"',
] as const;

/** Scripts for a guest that writes into its share `status` what no reader should trust. */
export const hostilePrograms = (
  file: string,
): Readonly<Record<'symlink' | 'fifo' | 'directory' | 'huge' | 'endless', string>> => {
  const target = `"Volumes/My Shared Files/status/${file}"`;
  return {
    symlink: `ln -sf /etc/passwd ${target}`,
    fifo: `mkfifo ${target}`,
    directory: `mkdir -p ${target}`,
    huge: `dd if=/dev/zero of=${target} bs=1 count=1 seek=1073741824 2>/dev/null`,
    endless: `while :; do echo again >>${target}; sleep 0.01; done`,
  };
};
