import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { sleep, systemClock as clock } from '@tartan/kube/clock';

/** One manager process, as in a Pod. */
export interface ManagerProcess {
  readonly pid: number;
  /** Restarts, as Kubernetes counts them. */
  readonly restarts: number;
  kill(signal: NodeJS.Signals): void;
}

export interface ManagerDeploymentOptions {
  /** For messages; default: the provider. */
  readonly displayName?: string;
  readonly program: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The log file of all managers. */
  readonly log: string;
  /** Called when a manager has crashed. It is restarted. */
  readonly onCrash?: ((code: number | null, what: string) => void) | undefined;
}

/** Manager processes, managed as by a Deployment: crashed ones are restarted. */
export interface ManagerDeployment {
  /** Stops the running managers, which release their Lease, then starts so many with these flags. */
  replace(flags: readonly string[], count?: number): Promise<void>;
  running(): readonly ManagerProcess[];
  /** Rejects when a manager rejects its flags. */
  readonly failure: Promise<never>;
  stop(): Promise<void>;
}

interface Replica {
  child: ChildProcess;
  restarts: number;
  readonly stopRequested: AbortController;
  readonly done: Promise<void>;
}

/** A constant back-off, shorter than that of a kubelet. */
const restartAfterMs = 500;
/** The default of Kubernetes. */
const terminationGraceMs = 30_000;
const keptOutputChars = 4_000;
const invalidFlagsExitCode = 2;

export const createManagerDeployment = ({
  displayName = 'the provider',
  program,
  environment,
  log,
  onCrash,
}: ManagerDeploymentOptions): ManagerDeployment => {
  const lines = createWriteStream(log, { flags: 'a', mode: 0o600 });
  const { promise: failure, reject: fail } = Promise.withResolvers<never>();
  failure.catch(() => {});
  let replicas: Replica[] = [];

  const start = (flags: readonly string[]): Replica => {
    const stopRequested = new AbortController();
    let output = '';
    const run = (): ChildProcess => {
      output = '';
      const child = spawn(process.execPath, [program, ...flags], {
        env: { ...environment },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        lines.write(text);
        output = (output + text).slice(-keptOutputChars);
      });
      return child;
    };
    const restartLoop = async (): Promise<void> => {
      for (;;) {
        await once(replica.child, 'close');
        const { exitCode: code } = replica.child;
        if (stopRequested.signal.aborted) return;
        if (code === invalidFlagsExitCode) return fail(new Error(`${displayName} does not start: ${output.trim()}`));
        onCrash?.(code, displayName);
        await sleep(clock, restartAfterMs, stopRequested.signal);
        if (stopRequested.signal.aborted) return;
        replica.restarts += 1;
        replica.child = run();
      }
    };
    const { promise: done, resolve, reject } = Promise.withResolvers<void>();
    const replica: Replica = { child: run(), restarts: 0, stopRequested, done };
    restartLoop().then(resolve, reject);
    return replica;
  };

  const terminate = async ({ stopRequested, child, done }: Replica): Promise<void> => {
    stopRequested.abort();
    // A frozen process handles SIGTERM only after SIGCONT.
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    const cancelKill = clock.after(terminationGraceMs, () => child.kill('SIGKILL'));
    await done;
    cancelKill();
  };
  const endAll = async (): Promise<void> => {
    await Promise.all(replicas.splice(0).map(terminate));
  };

  return {
    failure,
    replace: async (flags, count = 1) => {
      await endAll();
      replicas = Array.from({ length: count }, () => start(flags));
    },
    running: () =>
      replicas.map(({ child, restarts }) => ({
        pid: child.pid ?? 0,
        restarts,
        kill: (signal) => void child.kill(signal),
      })),
    stop: async () => {
      await endAll();
      await new Promise<void>((resolve) => lines.end(resolve));
    },
  };
};
