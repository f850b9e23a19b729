import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const scripts = join(import.meta.dirname, '../../../guest');
const shares = 'Volumes/My Shared Files';

/** The state that a guest finds at boot. */
export interface GuestOptions {
  /** The runner's program. `undefined`: the image has none. */
  readonly runner: string | undefined;
  /** The listener's answer to `--version`. `undefined`: it prints nothing. */
  readonly version?: string;
  /** `undefined`: the share has none. */
  readonly configuration?: string | undefined;
  /** Lines of `tuist.env`. */
  readonly variables?: readonly string[];
  /** Whether `pgrep` finds a worker. */
  readonly worker?: boolean;
  /** Time stands still until the runner creates the file: `: >"$TARTAN_GUEST_ROOT/go"`. */
  readonly isHeld?: boolean;
  /** Every `sleep` of the script ends at once, so that each of its time limits has passed. */
  readonly isInstant?: boolean;
  /** The shell that runs the script. `/bin/sh` of a Mac is bash in POSIX mode. */
  readonly shell?: readonly string[];
}

export interface Guest {
  readonly root: string;
  /** A file of the status share. */
  statusFile(name: string): string | undefined;
  /** The number of shutdown commands. */
  halts(): number;
  start(): ChildProcess;
  /** Resolves when the script has ended. */
  ended(script: ChildProcess): Promise<void>;
}

export const secret = 'a-jit-configuration';

/** Short for the script's own polling. Long where the script waits for another process, which a busy machine may delay. */
const sleepStub = ({ isHeld = false, isInstant = false }: GuestOptions): string => `#!/bin/sh
${isHeld ? 'until [ -e "$TARTAN_GUEST_ROOT/go" ]; do /bin/sleep 0.01; done' : ''}
${isInstant ? 'exit 0' : ''}
case $1 in 1) exec /bin/sleep 0.02 ;; 30) exec /bin/sleep 0.5 ;; *) exec /bin/sleep "$1" ;; esac
`;

/** A guest as a folder: the real script, with stubs of macOS's programs beside it. */
export const inGuest = async (options: GuestOptions, scenario: (guest: Guest) => Promise<void>): Promise<void> => {
  const root = mkdtempSync(join(tmpdir(), 'tartan-guest-'));
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { mode: 0o755 });
  };
  const libexec = join(root, 'usr/local/libexec/tartan-runner');
  mkdirSync(libexec, { recursive: true });
  for (const name of ['tartan-runner.sh', 'job-started.sh']) copyFileSync(join(scripts, name), join(libexec, name));
  put('usr/bin/sudo', '#!/bin/sh\nshift\nexec "$@"\n');
  put('usr/bin/pgrep', `#!/bin/sh\nexit ${options.worker === true ? 0 : 1}\n`);
  put('sbin/shutdown', `#!/bin/sh\necho "$*" >>"${root}/halts"\n`);
  put('bin/sleep', sleepStub(options));
  put('tmp/.keep', '');
  if (options.runner !== undefined) put('opt/actions-runner/run.sh', `#!/bin/sh\n${options.runner}\n`);
  if (options.version !== undefined) {
    const tell = `#!/bin/sh\n[ "$*" = --version ] && echo ${options.version}\n`;
    put('opt/actions-runner/bin/Runner.Listener', tell);
  }
  const { configuration = secret, variables = [] } = options;
  put(`${shares}/env/tuist.env`, variables.map((line) => `${line}\n`).join(''));
  mkdirSync(join(root, shares, 'status'));
  mkdirSync(join(root, shares, 'runner'));
  if (!('configuration' in options) || options.configuration !== undefined)
    put(`${shares}/runner/jitconfig`, configuration);
  const [shell = '/bin/sh', ...args] = options.shell ?? [];
  const running = new Set<ChildProcess>();
  const read = (path: string): string | undefined =>
    existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined;
  try {
    await scenario({
      root,
      statusFile: (name) => read(`${shares}/status/${name}`),
      halts: () => read('halts')?.split('\n').filter(Boolean).length ?? 0,
      start: () => {
        const child = spawn(shell, [...args, join(libexec, 'tartan-runner.sh')], {
          stdio: 'ignore',
          env: {
            PATH: `${join(root, 'bin')}:${process.env['PATH'] ?? ''}`,
            TARTAN_GUEST_ROOT: root,
            TMPDIR: join(root, 'tmp'),
          },
        });
        running.add(child);
        child.once('exit', () => running.delete(child));
        return child;
      },
      ended: async (child) => {
        if (running.has(child)) await once(child, 'exit');
      },
    });
  } finally {
    for (const child of running) child.kill('SIGKILL');
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
};
