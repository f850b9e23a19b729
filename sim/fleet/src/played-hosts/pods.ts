import { finalizers } from '@tartan/api';
import {
  type Client,
  createController,
  createInformer,
  done,
  fromInformer,
  hasFinalizer,
  ignoreNotFound,
  isKubeError,
  type Live,
  type Logger,
  pods,
  type ReconcileResult,
  requestForObject,
} from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import { admit } from '@tartan/tart-kubelet/admission';
import { statusOf } from '@tartan/tart-kubelet/pod-status';

type Pod = NonNullable<(typeof pods)['ofType']>;
type AgentDecision = Parameters<typeof statusOf>[1];
type AgentSnapshot = Parameters<typeof statusOf>[0];

/** The next write to a Pod. */
export type PodDecision =
  | { readonly kind: 'add finalizer' }
  | { readonly kind: 'run' }
  | { readonly kind: 'reject'; readonly message: string }
  /** The guest is shut down. */
  | { readonly kind: 'end' }
  | { readonly kind: 'remove finalizer' }
  | { readonly kind: 'delete Pod' }
  | { readonly kind: 'none' };

const isOver = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

/** Guests boot and shut down at once. Pure and total. */
export const decidePod = (pod: Live<Pod>): PodDecision => {
  const hasGuest = hasFinalizer(pod, finalizers.vmCleanup);
  const isDeleted = pod.metadata.deletionTimestamp !== undefined;
  if (isOver(pod)) {
    if (hasGuest) return { kind: 'remove finalizer' };
    return { kind: isDeleted ? 'delete Pod' : 'none' };
  }
  if (isDeleted) return { kind: hasGuest ? 'end' : 'delete Pod' };
  const admission = admit(pod);
  if (admission.kind === 'unsupported') return { kind: 'reject', message: admission.message };
  if (admission.kind === 'not for Macs') return { kind: 'none' };
  if (!hasGuest) return { kind: 'add finalizer' };
  return { kind: pod.status?.phase === 'Running' ? 'none' : 'run' };
};

interface PlayedPodsOptions {
  /** Authenticated as the Node. */
  readonly client: Client;
  readonly nodeName: string;
  /** Of the Mac; its guests have the same. */
  readonly address: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

const backoff = { baseMs: 100, maxMs: 30_000 };

/** Pods of a Mac without virtual machines: only what the agent writes about them. The status is made by the agent's own code. */
export const createPlayedPods = ({ client, nodeName, address, clock, random, log }: PlayedPodsOptions) => {
  const cache = createInformer({
    client,
    resource: pods,
    fieldSelector: `spec.nodeName=${nodeName}`,
    clock,
    random,
    log,
  });

  const statusFor = (pod: Live<Pod>, state: 'running' | 'ended', decision: AgentDecision) => {
    const now = clock.now();
    const { uid, name, namespace = '' } = pod.metadata;
    const record: AgentSnapshot['record'] = {
      version: 1,
      vm: `played-${uid}`,
      pod: { uid, name, namespace },
      image: { reference: pod.spec?.containers[0]?.image ?? '' },
      createdAt: now,
      run: 0,
      state:
        state === 'running'
          ? { kind: 'running', process, since: now, address }
          : { kind: 'ended', ending: shutdown(now) },
    };
    const snapshot: AgentSnapshot = {
      now,
      pod,
      record: decision.kind === 'add finalizer' || decision.kind === 'reject' ? undefined : record,
      vm: { kind: state === 'running' ? 'running' : 'stopped', process, address },
      image: { kind: 'here' },
      lastRun: { started: true, ending: { kind: 'halted' } },
      slots: { total: 1, usedByOthers: 0 },
    };
    return statusOf(snapshot, decision, address);
  };

  const patch = (pod: Live<Pod>, body: object, signal: AbortSignal): Promise<unknown> =>
    client.patch(pods, nameOf(pod), { type: 'merge', body }, { subresource: 'status', signal });
  /** With an optimistic lock, which protects the finalizers of others. */
  const withFinalizers = ({ metadata }: Live<Pod>, wanted: readonly string[]) => ({
    metadata: { resourceVersion: metadata.resourceVersion, finalizers: wanted },
  });

  const act = async (pod: Live<Pod>, decision: PodDecision, signal: AbortSignal): Promise<unknown> => {
    const others = (pod.metadata.finalizers ?? []).filter((each) => each !== finalizers.vmCleanup);
    switch (decision.kind) {
      case 'add finalizer':
        return patch(
          pod,
          {
            ...withFinalizers(pod, [...others, finalizers.vmCleanup]),
            status: statusFor(pod, 'running', { kind: 'add finalizer' }),
          },
          signal,
        );
      case 'run':
        return patch(pod, { status: statusFor(pod, 'running', { kind: 'running', address }) }, signal);
      case 'reject': {
        const { message } = decision;
        const status = statusFor(pod, 'ended', { kind: 'reject', reason: 'UnsupportedPod', message });
        return patch(pod, { status }, signal);
      }
      case 'end': {
        const status = statusFor(pod, 'ended', { kind: 'write final status', ending: shutdown(clock.now()) });
        return patch(pod, { status }, signal);
      }
      case 'remove finalizer':
        return patch(pod, withFinalizers(pod, others), signal);
      case 'delete Pod':
        return client.delete(pods, nameOf(pod), {
          gracePeriodSeconds: 0,
          preconditions: { uid: pod.metadata.uid },
          signal,
        });
      case 'none':
        return undefined;
    }
  };

  const reconcile = async (key: string, signal: AbortSignal): Promise<ReconcileResult> => {
    const pod = cache.get(key);
    if (pod === undefined) return done;
    try {
      await ignoreNotFound(act(pod, decidePod(pod), signal));
    } catch (error) {
      // The watch delivers the newer Pod.
      if (!isKubeError(error, 'conflict')) throw error;
    }
    return done;
  };
  const controller = createController({
    name: 'pods',
    reconcile,
    sources: [fromInformer(cache, requestForObject)],
    backoff,
    clock,
    log,
  });

  return {
    /** Guests that run. */
    running: (): number => cache.list().filter(({ status }) => status?.phase === 'Running').length,
    /** Runs until `signal` fires. */
    run: async (signal: AbortSignal): Promise<void> => {
      await Promise.all([cache.run(signal), controller.run(signal)]);
    },
  };
};

/** There is none. */
const process = { pid: 1, startedAt: 0 };
const shutdown = (finishedAt: number) => ({ exitCode: 0, reason: 'Completed', finishedAt });
const nameOf = ({ metadata: { name, namespace = '' } }: Live<Pod>) => ({ name, namespace });
