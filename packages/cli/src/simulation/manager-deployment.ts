import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { sleep, systemClock as clock } from '@tartan/kube/clock';

/** One manager: a process of its own, as in a Pod. */
export interface ManagerProcess {
  readonly pid: number;
  /** How often Kubernetes would say that its container was restarted. */
  readonly restarts: number;
  kill(signal: NodeJS.Signals): void;
}

export interface ManagerDeploymentOptions {
  /** What people call it; the provider unless told. */
  readonly displayName?: string;
  /** The file to start. */
  readonly program: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Where all of them write. */
  readonly log: string;
  /** One has ended that nobody has stopped; it is started again. */
  readonly onCrash?: (code: number | null, what: string) => void;
}

/** The managers as a Deployment keeps them: what ends is started again, and an upgrade replaces one after the other. */
export interface ManagerDeployment {
  /** Starts so many with these flags, in place of those that run. They have ended by then, and given their lease back. */
  replace(flags: readonly string[], count?: number): Promise<void>;
  running(): readonly ManagerProcess[];
  /** Rejects when one refuses what it was told: starting it again will not help. */
  readonly failure: Promise<never>;
  stop(): Promise<void>;
}

interface Replica {
  child: ChildProcess;
  restarts: number;
  readonly stopRequested: AbortController;
  readonly done: Promise<void>;
}

/** As the kubelet begins; it never gets longer here, as nobody waits for minutes at a laptop. */
const restartAfterMs = 500;
/** As much as Kubernetes grants. */
const terminationGraceMs = 30_000;
const keptOutputChars = 4_000;
/** The exit code of a manager that cannot do what it was told. */
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
    // One that was frozen hears of it too.
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    const patience = setTimeout(() => child.kill('SIGKILL'), terminationGraceMs);
    await done;
    clearTimeout(patience);
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
