import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@tartan/kube/clock';
import { type HostProcess, type ProcessTable, type Tart, TartError } from '@tartan/tart';

const repository = ['ghcr.io', 'example', 'macos'];
const digest = `sha256:${'a'.repeat(64)}`;
export const image = `${repository.join('/')}:26`;
const tartPath = '/opt/tart/tart';

/** A Mac whose virtual machines cost nothing: folders instead of disks, and table entries instead of processes. */
export interface InstantMac {
  readonly tart: Tart;
  readonly processes: ProcessTable;
  readonly tartPaths: readonly string[];
  readonly tartHome: string;
  /** The guest of this Pod shuts itself down, as at the end of a job. */
  finish(podUID: string): void;
}

const unasked = (what: string): never => {
  throw new Error(`${what} is not part of this test`);
};

export const createInstantMac = async (folder: string): Promise<InstantMac> => {
  const tartHome = join(folder, 'tart');
  const vms = join(tartHome, 'vms');
  const images = join(tartHome, 'cache', 'OCIs', ...repository);
  await mkdir(join(images, digest), { recursive: true });
  await mkdir(vms);
  await symlink(digest, join(images, '26'));
  const running = new Map<string, { readonly process: HostProcess; readonly end: () => void }>();
  let pids = 100_000;

  const tart: Tart = {
    version: async () => '2.32.1',
    list: () => unasked('tart list'),
    get: () => unasked('tart get'),
    pull: () => unasked('tart pull'),
    set: async () => {},
    ip: async () => '192.168.64.2',
    exec: () => unasked('tart exec'),
    clone: async (_source, name) => {
      await mkdir(join(vms, name)).catch((cause: unknown) => {
        throw new TartError('already exists', `${name} is there already`, { command: 'clone', cause });
      });
      for (const file of ['config.json', 'disk.img', 'nvram.bin']) await writeFile(join(vms, name, file), '');
    },
    run: async (name, { logFile }) => {
      const ended = Promise.withResolvers<void>();
      const startedAt = Math.trunc(systemClock.now() / 1000) * 1000;
      const process = { pid: ++pids, startedAt, command: `${tartPath} run ${name} --no-graphics` };
      running.set(name, { process, end: ended.resolve });
      await writeFile(logFile, '', { mode: 0o600 });
      const exited = ended.promise.then(() => {
        running.delete(name);
        return { at: systemClock.now(), code: 0, signal: undefined };
      });
      return { ...process, name, logFile, exited };
    },
    stop: async (name) => running.get(name)?.end(),
    delete: (name) => rm(join(vms, name), { recursive: true, force: true }),
  };
  return {
    tart,
    tartHome,
    tartPaths: [tartPath],
    processes: {
      list: async () => [...running.values()].map(({ process }) => process),
      find: async (pid) => [...running.values()].find(({ process }) => process.pid === pid)?.process,
    },
    finish: (podUID) => {
      for (const [name, { end }] of running) if (name.endsWith(podUID)) end();
    },
  };
};
