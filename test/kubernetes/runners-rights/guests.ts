import { labels, runnerBusyCondition, secretKeys } from '@tartan/api';
import { type Client, isKubeError, type Live, pods, secrets } from '@tartan/kube';
import { systemClock, timestamp } from '@tartan/kube/clock';
import { runFakeRunner } from '@tartan/sim-github';

type Pod = Live<NonNullable<(typeof pods)['ofType']>>;

interface GuestOptions {
  /** As an administrator: other tests cover the rights of a Mac. */
  readonly client: Client;
  readonly namespace: string;
  readonly githubURL: string;
}

/**
 * The agents of all Macs and the guests on them, as a runners controller sees them: a bound Pod with its Secret runs, reports whether it
 * has a job, and ends with its runner. A deleted one is removed.
 */
export const runFakeGuests = ({ client, namespace, githubURL }: GuestOptions) => {
  const over = new AbortController();
  const runners = new Map<string, Promise<void>>();

  const setStatus = async ({ metadata: { name, uid } }: Pod, status: object): Promise<void> => {
    const body = { metadata: { uid }, status };
    try {
      await client.patch(pods, { namespace, name }, { type: 'merge', body }, { subresource: 'status' });
    } catch (error) {
      // Gone by now, or replaced by another one of that name.
      if (!isKubeError(error, 'notFound', 'conflict', 'invalid')) throw error;
    }
  };
  const startedAt = timestamp(systemClock.now());
  const running = (job: 'True' | 'False') => ({
    phase: 'Running',
    conditions: [
      { type: 'PodScheduled', status: 'True', lastTransitionTime: startedAt },
      { type: runnerBusyCondition, status: job, reason: job === 'True' ? 'JobStarted' : 'WaitsForJob' },
    ],
    containerStatuses: [containerIn({ running: { startedAt } })],
  });
  const ended = {
    phase: 'Succeeded',
    containerStatuses: [
      containerIn({
        terminated: { exitCode: 0, reason: 'Completed', startedAt, finishedAt: startedAt },
      }),
    ],
  };

  const live = async (pod: Pod, jitConfig: string): Promise<void> => {
    await setStatus(pod, running('False'));
    await runFakeRunner({
      url: githubURL,
      as: { jit_config: jitConfig },
      work: async () => {
        await setStatus(pod, running('True'));
        return 'success';
      },
      signal: over.signal,
    });
    if (!over.signal.aborted) await setStatus(pod, ended);
  };

  const lookAt = async (pod: Pod): Promise<void> => {
    const { name, uid, deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined)
      return void (await client.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 }));
    if (pod.spec?.nodeName === undefined || runners.has(uid)) return;
    const { data = {} } = await client.get(secrets, { namespace, name });
    const jitConfig = Buffer.from(data[secretKeys.runner.jitConfig] ?? '', 'base64').toString();
    runners.set(uid, live(pod, jitConfig));
  };

  return {
    /** One pass over all of them. */
    look: async (): Promise<void> => {
      const { items } = await client.list(pods, { namespace, labelSelector: `${labels.runner}=true` });
      for (const pod of items) await lookAt(pod).catch(unlessNotFound);
    },
    stop: async (): Promise<void> => {
      over.abort();
      await Promise.all(runners.values());
    },
  };
};

/** No Secret yet, or the Pod is gone. */
const unlessNotFound = (error: unknown): void => {
  if (!isKubeError(error, 'notFound')) throw error;
};

const containerIn = (state: object) => ({
  name: 'runner',
  image: 'runner',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
});
