import { type Clock, sleep, timestamp } from '@tartan/kube/clock';
import { ConfigProblem, type Container, type ContainerState } from '../pod/pod.ts';
import { type ContainerFacts, isRestarted } from '../pod/pod-status.ts';
import type { RunningContainer } from './start-container.ts';
import { watchHealth } from './watch-health.ts';

/** No such image. */
export class ImageProblem extends Error {
  override name = 'ImageProblem';
}

export interface Keeping {
  readonly container: Container;
  readonly restartPolicy: string | undefined;
  readonly podIP: string;
  readonly clock: Clock;
  readonly secondMs: number;
  /** Rejects with ConfigProblem or ImageProblem where waiting may help. */
  readonly start: () => Promise<RunningContainer>;
  /** From the request to end until it is ended. */
  readonly graceMs: () => number;
  /** The Pod is to end. */
  readonly stopping: AbortSignal;
  readonly tell: (facts: ContainerFacts) => void;
}

/** As the kubelet's: twice as long each time, up to a limit. */
const backOff = { firstSeconds: 10, mostSeconds: 300 };
const tryAgainSeconds = 2;

const waiting = (reason: string, message: string): ContainerState => ({ waiting: { reason, message } });

const problem = (error: unknown): ContainerState => {
  if (error instanceof ImageProblem) return waiting('ErrImagePull', error.message);
  if (error instanceof ConfigProblem) return waiting('CreateContainerConfigError', error.message);
  return waiting('CreateContainerError', error instanceof Error ? error.message : String(error));
};

/** Runs a container, as often as its Pod wants it, until the Pod has to end or does not want it again. */
export const keepContainer = async (keeping: Keeping): Promise<void> => {
  const { container, restartPolicy, podIP, clock, secondMs, start, graceMs, stopping, tell } = keeping;
  let facts: ContainerFacts = {
    name: container.name,
    image: container.image ?? '',
    state: waiting('ContainerCreating', ''),
    lastState: {},
    restarts: 0,
    started: false,
    ready: false,
    id: '',
  };
  const now = (change: Partial<ContainerFacts>): void => {
    facts = { ...facts, ...change };
    tell(facts);
  };
  let pauseSeconds = backOff.firstSeconds;
  const startedAgain = async (): Promise<RunningContainer | undefined> => {
    while (!stopping.aborted) {
      try {
        return await start();
      } catch (error) {
        now({ state: problem(error) });
        await sleep(clock, tryAgainSeconds * secondMs, stopping);
      }
    }
    return undefined;
  };
  for (;;) {
    const running = await startedAgain();
    if (running === undefined) return;
    const startedAt = timestamp(clock.now());
    const id = `process://${running.pid}`;
    now({ state: { running: { startedAt } }, id, started: false, ready: false });
    const ended = new AbortController();
    let forgive: (() => void) | undefined;
    const end = (): void => {
      forgive?.();
      running.kill('SIGTERM');
      forgive = clock.after(graceMs(), () => running.kill('SIGKILL'));
    };
    stopping.addEventListener('abort', end, { once: true });
    if (stopping.aborted) end();
    const health = watchHealth(container, {
      clock,
      podIP,
      secondMs,
      signal: ended.signal,
      onStarted: () => now({ started: true }),
      onReady: (ready) => ready !== facts.ready && now({ ready }),
      // A probe that goes on failing does not give it more time.
      onDead: () => forgive ?? end(),
    });
    const { code, signal } = await running.exited;
    ended.abort();
    forgive?.();
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
    now({ state: terminated, started: false, ready: false });
    if (stopping.aborted || !isRestarted(restartPolicy, code)) return;
    const why = `back-off ${pauseSeconds}s restarting failed container=${container.name}`;
    now({ state: waiting('CrashLoopBackOff', why), lastState: terminated });
    await sleep(clock, pauseSeconds * secondMs, stopping);
    if (stopping.aborted) return;
    pauseSeconds = Math.min(2 * pauseSeconds, backOff.mostSeconds);
    now({ restarts: facts.restarts + 1 });
  }
};
