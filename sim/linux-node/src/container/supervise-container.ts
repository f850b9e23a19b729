import { type Clock, sleep, timestamp } from '@tartan/kube/clock';
import {
  type Container,
  ContainerConfigError,
  type ContainerSnapshot,
  type ContainerState,
  shouldRestart,
} from '../pod/pod.ts';
import { runProbes } from './probes.ts';
import type { RunningContainer } from './start-container.ts';

/** The image does not exist. */
export class ImagePullError extends Error {
  override name = 'ImagePullError';
}

export interface SupervisorOptions {
  readonly container: Container;
  readonly restartPolicy: string | undefined;
  readonly podIP: string;
  readonly clock: Clock;
  readonly secondMs: number;
  /** Rejects with `ContainerConfigError` or `ImagePullError` when a retry may help. */
  readonly start: () => Promise<RunningContainer>;
  /** From SIGTERM to SIGKILL. */
  readonly graceMs: () => number;
  /** Fires when the Pod is to end. */
  readonly stopping: AbortSignal;
  readonly onStatus: (facts: ContainerSnapshot) => void;
}

/** Like the kubelet's: doubles each time, up to a limit. */
const backOff = { firstSeconds: 10, mostSeconds: 300 };
const retrySeconds = 2;

const waiting = (reason: string, message: string): ContainerState => ({ waiting: { reason, message } });

const waitingState = (error: unknown): ContainerState => {
  if (error instanceof ImagePullError) return waiting('ErrImagePull', error.message);
  if (error instanceof ContainerConfigError) return waiting('CreateContainerConfigError', error.message);
  return waiting('CreateContainerError', error instanceof Error ? error.message : String(error));
};

/** Runs a container, with restarts by the policy of its Pod, until the Pod ends or the policy ends them. */
export const superviseContainer = async (keeping: SupervisorOptions): Promise<void> => {
  const { container, restartPolicy, podIP, clock, secondMs, start, graceMs, stopping, onStatus } = keeping;
  let facts: ContainerSnapshot = {
    name: container.name,
    image: container.image ?? '',
    state: waiting('ContainerCreating', ''),
    lastState: {},
    restarts: 0,
    started: false,
    ready: false,
    id: '',
  };
  const update = (change: Partial<ContainerSnapshot>): void => {
    facts = { ...facts, ...change };
    onStatus(facts);
  };
  let pauseSeconds = backOff.firstSeconds;
  const startWithRetries = async (): Promise<RunningContainer | undefined> => {
    while (!stopping.aborted) {
      try {
        return await start();
      } catch (error) {
        update({ state: waitingState(error) });
        await sleep(clock, retrySeconds * secondMs, stopping);
      }
    }
    return undefined;
  };
  for (;;) {
    const running = await startWithRetries();
    if (running === undefined) return;
    const startedAt = timestamp(clock.now());
    const id = `process://${running.pid}`;
    update({ state: { running: { startedAt } }, id, started: false, ready: false });
    const ended = new AbortController();
    let cancelKill: (() => void) | undefined;
    const end = (): void => {
      cancelKill?.();
      running.kill('SIGTERM');
      cancelKill = clock.after(graceMs(), () => running.kill('SIGKILL'));
    };
    stopping.addEventListener('abort', end, { once: true });
    if (stopping.aborted) end();
    const health = runProbes(container, {
      clock,
      podIP,
      secondMs,
      signal: ended.signal,
      onStarted: () => update({ started: true }),
      onReady: (ready) => ready !== facts.ready && update({ ready }),
      // Further failures of the probe do not extend the grace period.
      onDead: () => cancelKill ?? end(),
    });
    const { code, signal } = await running.exited;
    ended.abort();
    cancelKill?.();
    stopping.removeEventListener('abort', end);
    await health;
    const terminated: ContainerState = {
      terminated: {
        exitCode: code,
        reason: code === 0 ? 'Completed' : 'Error',
        startedAt,
        finishedAt: timestamp(clock.now()),
        containerID: id,
        ...(signal !== undefined && { message: `ended by ${signal}` }),
      },
    };
    update({ state: terminated, started: false, ready: false });
    if (stopping.aborted || !shouldRestart(restartPolicy, code)) return;
    const why = `back-off ${pauseSeconds}s restarting failed container=${container.name}`;
    update({ state: waiting('CrashLoopBackOff', why), lastState: terminated });
    await sleep(clock, pauseSeconds * secondMs, stopping);
    if (stopping.aborted) return;
    pauseSeconds = Math.min(2 * pauseSeconds, backOff.mostSeconds);
    update({ restarts: facts.restarts + 1 });
  }
};
