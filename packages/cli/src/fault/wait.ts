import type { KubeObject, Live, Resource } from '@tartan/kube';
import { sleep, systemClock as clock } from '@tartan/kube/clock';
import { untilObjects } from '../simulation/wait.ts';
import type { FaultContext } from './fault.ts';

/** Nothing here takes that long, so that whatever does will never come. */
const timeoutMs = 3 * 60_000;

/**
 * Waits, by a watch, until it holds for the objects of a kind. Rejects when that takes longer than anybody waits, and when the signal of
 * the scene fires; `what` completes "waited in vain until".
 */
export const untilAll = async <T extends KubeObject>(
  { simulation, signal }: FaultContext,
  resource: Resource<T>,
  what: string,
  holds: (objects: readonly Live<T>[]) => boolean,
): Promise<void> => {
  const inTime = AbortSignal.timeout(timeoutMs);
  const seen = await untilObjects(simulation.controlPlane.client, resource, holds, AbortSignal.any([signal, inTime]));
  if (!seen) throw new Error(signal.aborted ? 'stopped' : `waited in vain until ${what}`);
};

/** The same for one object, which is answered with. */
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
  if (found === undefined) throw new Error(`unreachable: ${what}`);
  return found;
};

/** Until there is none of this name any more. */
export const untilGone = <T extends KubeObject>(
  context: FaultContext,
  resource: Resource<T>,
  name: string,
): Promise<void> =>
  untilAll(context, resource, `${resource.kind} ${name} is gone`, (objects) =>
    objects.every(({ metadata }) => metadata.name !== name),
  );

const pollMs = 50;

/** For what no watch tells: what a Mac does, or a process. */
export const untilTrue = async (
  { signal }: Pick<FaultContext, 'signal'>,
  what: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> => {
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  while (!(await holds())) {
    if (inTime.aborted) throw new Error(signal.aborted ? 'stopped' : `waited in vain until ${what}`);
    await sleep(clock, pollMs, inTime);
  }
};

/** How long an outage lasts that nobody ends before. */
export const waitFor = (milliseconds: number, { signal }: Pick<FaultContext, 'signal'>): Promise<void> =>
  sleep(clock, milliseconds, signal);
