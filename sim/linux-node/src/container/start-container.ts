import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Roots of containers are mounted in their own mount namespace, which needs root or user namespaces. */
const namespaceFlags: readonly string[] = process.getuid?.() === 0 ? ['--mount'] : ['--map-root-user', '--mount'];

let canRun: boolean | undefined;

/** Whether containers can run here: on Linux, with the permission to mount. */
export const canRunContainers = (): boolean => {
  canRun ??= spawnSync('unshare', [...namespaceFlags, 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;
  return canRun;
};

/** An image as an unpacked file system, which needs no pull. */
export interface Image {
  readonly folder: string;
  /** The default user of its containers. Default: root. */
  readonly user?: number;
}

interface Mount {
  /** On the host. */
  readonly folder: string;
  /** In the container. */
  readonly path: string;
  readonly readOnly: boolean;
}

export interface ContainerSpec {
  /** The file system of its image, which is not changed. */
  readonly image: string;
  /** For its writes outside of volumes; removed with it. */
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
/** The default of container runtimes. */
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const mode = (readOnly: boolean): string => (readOnly ? 'ro' : 'rw');

/** One process: each step execs the next, and finally the program. */
export const startContainer = async (spec: ContainerSpec): Promise<RunningContainer> => {
  const { image, scratch, command, env, mounts } = spec;
  await mkdir(scratch, { recursive: true });
  // A user namespace has only its root.
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
    // With its own process group, all its processes can be killed.
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
    // The overlay mount leaves a folder without permissions.
    await chmod(join(scratch, 'work/work'), 0o700).catch(() => {});
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
    return { code: code ?? 137, signal: signal ?? undefined };
  };
  const exited = end();
  exited.catch(() => {});
  return { pid: child.pid ?? 0, exited, kill };
};
