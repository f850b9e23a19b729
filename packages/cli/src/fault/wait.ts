import type { KubeObject, Live, Resource } from '@tartan/kube';
import { sleep, systemClock as clock, withTimeout } from '@tartan/kube/clock';
import { untilObjects } from '@tartan/sim-fleet';
import type { FaultContext } from './fault.ts';

/** Nothing in a simulation takes longer. */
const timeoutMs = 3 * 60_000;

const interruption = ({ signal }: Pick<FaultContext, 'signal'>, what: string): Error =>
  new Error(signal.aborted ? 'stopped' : `timed out before ${what}`);

/** Waits until it holds for the objects of a kind. Rejects at the timeout or when the signal fires; `what` completes "timed out before". */
export const untilAll = async <T extends KubeObject>(
  context: FaultContext,
  resource: Resource<T>,
  what: string,
  holds: (objects: readonly Live<T>[]) => boolean,
): Promise<void> => {
  const { client } = context.simulation.controlPlane;
  const wait = (signal: AbortSignal): Promise<boolean> => untilObjects(client, resource, holds, signal);
  if (!(await withTimeout(clock, timeoutMs, wait, context.signal))) throw interruption(context, what);
};

/** Waits for one object, and returns it. */
export const untilOne = async <T extends KubeObject>(
  context: FaultContext,
  resource: Resource<T>,
  what: string,
  holds: (object: Live<T>) => boolean,
): Promise<Live<T>> => {
  let found: Live<T> | undefined;
  await untilAll(context, resource, what, (objects) => {
    found = objects.find(holds);
    return found !== undefined;
  });
  if (found === undefined) throw interruption(context, what);
  return found;
};

/** Waits until it holds for the object of this name. `what` completes the sentence that begins with kind and name. */
export const untilNamed = <T extends KubeObject>(
  context: FaultContext,
  resource: Resource<T>,
  name: string,
  what: string,
  holds: (object: Live<T>) => boolean,
): Promise<Live<T>> =>
  untilOne(
    context,
    resource,
    `${resource.kind} ${name} ${what}`,
    (object) => object.metadata.name === name && holds(object),
  );

export const untilDeleted = <T extends KubeObject>(
  context: FaultContext,
  resource: Resource<T>,
  name: string,
): Promise<void> =>
  untilAll(context, resource, `${resource.kind} ${name} was deleted`, (objects) =>
    objects.every(({ metadata }) => metadata.name !== name),
  );

const pollMs = 50;

/** For what cannot be watched: a Mac or a process. */
export const untilTrue = async (
  context: Pick<FaultContext, 'signal'>,
  what: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> => {
  const deadline = clock.monotonic() + timeoutMs;
  while (!(await holds())) {
    if (context.signal.aborted || clock.monotonic() > deadline) throw interruption(context, what);
    await sleep(clock, pollMs, context.signal);
  }
};

export const waitFor = (milliseconds: number, { signal }: Pick<FaultContext, 'signal'>): Promise<void> =>
  sleep(clock, milliseconds, signal);
