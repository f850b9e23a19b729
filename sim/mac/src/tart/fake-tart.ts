import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createControls, type FakeTartControls } from './controls.ts';
import { killProcessesOf, powerOffVms } from './virtual-machines.ts';

/** One call of the fake, recorded at its start. */
export interface TartCall {
  readonly pid: number;
  /** Without the program: `['clone', 'a', 'b']`. */
  readonly argv: readonly string[];
  /** CI was set: progress is in plain lines. */
  readonly ci: boolean;
  readonly registryUser: string | undefined;
  readonly autoPrune: boolean;
  /** Absent while it runs, and when a signal ended it. */
  readonly exitCode: number | undefined;
}

/** Every call of the fake, in the order of their starts. */
export interface TartJournal {
  calls(command?: string): readonly TartCall[];
}

const recordsOf = (file: string): readonly (readonly string[])[] => {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  return content
    .split('\u001e\n')
    .slice(0, -1)
    .map((record) => record.split('\u001f'));
};

const createTartJournal = (file: string): TartJournal => ({
  calls: (command) => {
    const calls: (TartCall & { exitCode: number | undefined })[] = [];
    for (const [pid = '', what, ...fields] of recordsOf(file)) {
      if (what === 'start') {
        const [ci, user, prune, ...argv] = fields;
        calls.push({
          pid: Number(pid),
          argv,
          ci: ci !== '',
          registryUser: user === '' ? undefined : user,
          autoPrune: prune === '',
          exitCode: undefined,
        });
      } else {
        const call = calls.findLast((one) => one.pid === Number(pid) && one.exitCode === undefined);
        if (call !== undefined) Object.assign(call, { exitCode: Number(fields[0]) });
      }
    }
    return command === undefined ? calls : calls.filter(({ argv }) => argv[0] === command);
  },
});

const scriptParts = ['common', 'storage', 'list', 'pull', 'clone', 'boot', 'run', 'stop', 'guest', 'main'] as const;

/**
 * A stand-in for `tart` as one executable: POSIX sh, because a call must take milliseconds and a running virtual machine hardly any
 * resources. It behaves like tart 2.32.1.
 */
export const fakeTart = (version: string): string =>
  [
    '#!/bin/sh\n# Stands in for tart. INC: docs/incidents.md.\n',
    `version='${version}'\n`,
    ...scriptParts.map((part) => readFileSync(new URL(`script/${part}.sh`, import.meta.url), 'utf8')),
  ].join('\n');

export interface FakeTart {
  /** The executable. */
  readonly path: string;
  /** TART_HOME. */
  readonly home: string;
  readonly controls: FakeTartControls;
  readonly journal: TartJournal;
  /** Adds a local virtual machine. */
  addVm(name: string): void;
  /** Kills every running virtual machine, like pulling the plug. Idempotent. */
  powerOff(): void;
}

/** As `tart create` writes it: each with its own identity. */
const vmConfig = (identity: string): string => `{
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

/** Installs a fake `tart` with its own TART_HOME in `folder`. By default guests boot in 20 ms and tart's second lasts 20 ms. */
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
    journal: createTartJournal(join(fake, 'journal')),
    addVm: (name) => {
      const vm = join(home, 'vms', name);
      mkdirSync(vm, { recursive: true });
      writeFileSync(join(vm, 'config.json'), vmConfig(createHash('sha256').update(name).digest('hex')));
      writeFileSync(join(vm, 'disk.img'), 'disk\n');
      writeFileSync(join(vm, 'nvram.bin'), '');
    },
    powerOff: () => {
      killProcessesOf(path);
      powerOffVms(home);
    },
  };
};

/** The errors of macOS and SQLite when a disk is full. The first has a curly apostrophe. */
export const noSpaceTexts = [
  'Error: Error Domain=NSCocoaErrorDomain Code=640 "There isn’t enough space."',
  "Error: there isn't enough space on the volume",
  'Error: database or disk is full (code: 13)',
  'Error: Error Domain=NSPOSIXErrorDomain Code=28 "No space left on device"',
] as const;

/** Scripts for a guest that writes hostile content into its share `status`. */
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
