import {
  again,
  type Client,
  type EventRecorder,
  type Live,
  type Logger,
  type ObjectName,
  type Outcome,
  settled,
} from '@tartan/kube';
import { decide } from './decide.ts';
import { freshWorld, type Observer, observe, type Pod } from './observe.ts';
import { removeVMCleanup } from './remove-finalizer.ts';
import { happeningOf, type ReleaseCause } from './status.ts';

export interface Releaser {
  observer: Observer;
  client: Pick<Client, 'get' | 'patch'>;
  events: Pick<EventRecorder, 'event'>;
  /** Called once for each Pod let go. */
  count: (cause: ReleaseCause) => void;
  log: Logger;
}

/** Somebody else has written the Pod: look at what it is now. */
const conflictPauseMs = 1000;

/**
 * Removes the agent's finalizer from a Pod that the caches say should lose it.
 *
 * Flow: Pod and Node read anew from the server, decided anew on what they are, one merge patch of `metadata.finalizers`.
 * Guarantees: those of `removeVMCleanup`. To repeat it after a crash does nothing more.
 * Caveats: a Node that registers between the second read and the patch is not noticed, a few milliseconds. Its agent then finds a VM
 * without a Pod, which it collects. The Pod itself goes once nobody else holds it and its deletion has no grace period left: the
 * Pod garbage collector of Kubernetes sees to that for Pods without a Node.
 */
export const release = async (releaser: Releaser, name: ObjectName, signal: AbortSignal): Promise<Outcome> => {
  const { observer, client } = releaser;
  const { pod, snapshot } = await observe(observer, freshWorld(client), name, { signal });
  const decision = decide(snapshot);
  if (pod === undefined) return settled;
  switch (decision.kind) {
    case 'leave':
      // The cache is behind, or was told to hold fewer Nodes than there are: it may never tell when this one goes.
      return decision.because === 'nodeExists' ? again(observer.graceMs) : settled;
    case 'wait':
      return again(decision.forMs);
    case 'release':
      return letGo(releaser, pod, decision.because, signal);
  }
};

const letGo = async (
  { observer, client, events, count, log }: Releaser,
  pod: Live<Pod>,
  because: ReleaseCause,
  signal: AbortSignal,
): Promise<Outcome> => {
  const removal = await removeVMCleanup(client, pod, { signal });
  if (removal.kind === 'gone') return settled;
  if (removal.kind === 'changed') return again(conflictPauseMs);
  const { name, namespace, uid } = pod.metadata;
  const node = pod.spec?.nodeName;
  log.info('Released a Pod that no agent is left to clean up', { namespace, name, uid, node, because });
  count(because);
  events.event(pod, happeningOf(because, node, observer.graceMs));
  return settled;
};
