import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Roots of containers are mounted in a namespace of their own, for which Linux wants root, or namespaces of users. */
const namespaceFlags: readonly string[] = process.getuid?.() === 0 ? ['--mount'] : ['--map-root-user', '--mount'];

let canRun: boolean | undefined;

/** Whether this machine lets us: it is Linux, and we may mount. */
export const canRunContainers = (): boolean => {
  canRun ??= spawnSync('unshare', [...namespaceFlags, 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;
  return canRun;
};

/** An image that needs no pulling: its file system, unpacked. */
export interface Image {
  readonly folder: string;
  /** As whom its containers run when the Pod does not say; root unless told. */
  readonly user?: number;
}

interface Mount {
  /** Outside. */
  readonly folder: string;
  /** Inside. */
  readonly path: string;
  readonly readOnly: boolean;
}

export interface ContainerSpec {
  /** The file system of its image, which stays as it is. */
  readonly image: string;
  /** For what it writes beside its volumes; goes with it. */
  readonly scratch: string;
  /** Gets its output. */
  readonly log: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly user: number;
  readonly readOnlyRoot: boolean;
  readonly mounts: readonly Mount[];
}

interface Exit {
  readonly code: number;
  readonly signal: NodeJS.Signals | undefined;
}

export interface RunningContainer {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  kill(signal: NodeJS.Signals): void;
}

const script = join(import.meta.dirname, 'enter.sh');
/** As container runtimes have it for images that say nothing. */
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const mode = (readOnly: boolean): string => (readOnly ? 'ro' : 'rw');

/** One process, which is the program itself: every step on the way to it becomes the next. */
export const startContainer = async (spec: ContainerSpec): Promise<RunningContainer> => {
  const { image, scratch, command, env, mounts } = spec;
  await mkdir(scratch, { recursive: true });
  // In a namespace of users nobody but its root is there.
  const user = namespaceFlags.includes('--map-root-user') ? 0 : spec.user;
  const child = spawn(
    'unshare',
    [
      ...namespaceFlags,
      'sh',
      script,
      image,
      scratch,
      String(user),
      mode(spec.readOnlyRoot),
      ...mounts.flatMap(({ folder, path, readOnly }) => [folder, path, mode(readOnly)]),
      '--',
      ...command,
    ],
    // With its own group of processes, nobody of it stays.
    { env: { PATH: defaultPath, ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
  );
  const log = createWriteStream(spec.log, { flags: 'a', mode: 0o600 });
  for (const stream of [child.stdout, child.stderr]) stream.pipe(log, { end: false });
  const kill = (signal: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // It has ended.
    }
  };
  const abandon = (): void => kill('SIGKILL');
  process.once('exit', abandon);
  const end = async (): Promise<Exit> => {
    const [code, signal]: [number | null, NodeJS.Signals | null] = await new Promise((resolve, reject) => {
      child.once('close', (...how) => resolve(how));
      child.once('error', reject);
    });
    process.removeListener('exit', abandon);
    log.end();
    await once(log, 'close');
    // The kernel leaves a folder there that nobody may look into.
    await chmod(join(scratch, 'work/work'), 0o700).catch(() => {});
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
    return { code: code ?? 137, signal: signal ?? undefined };
  };
  const exited = end();
  exited.catch(() => {});
  return { pid: child.pid ?? 0, exited, kill };
};
