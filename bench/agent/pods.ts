import { macTaint } from '@tartan/api';
import { type Client, type Live, nodes, pods } from '@tartan/kube';
import type { BenchMac } from './mac.ts';
import { watch } from './watch.ts';

type Pod = Live<NonNullable<(typeof pods)['ofType']>>;

/** One Pod from its creation on. Times are milliseconds since the epoch. */
interface StartedPod {
  readonly uid: string;
  /** When the server had confirmed its creation, bound to this Node. */
  readonly bound: number;
  /** When other clients saw it running. */
  readonly running: number;
}

export interface PodMaker {
  nodeReady(): Promise<void>;
  /** Until it runs. */
  start(name: string): Promise<StartedPod>;
  /** Until it is gone. */
  remove(name: string): Promise<void>;
  stop(): Promise<void>;
}

const namespace = 'default';
const patienceMs = 60_000;

const now = (): number => performance.timeOrigin + performance.now();

/** Like Pods of runners: a variable, and a token with which the job authenticates. */
const podOf = (name: string, nodeName: string, image: string) => ({
  apiVersion: 'v1' as const,
  kind: 'Pod' as const,
  metadata: { name, namespace },
  spec: {
    nodeName,
    restartPolicy: 'Never' as const,
    automountServiceAccountToken: false,
    tolerations: [{ key: macTaint.key, operator: 'Exists' as const, effect: 'NoSchedule' as const }],
    containers: [
      {
        name: 'runner',
        image,
        env: [{ name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
        volumeMounts: [{ name: 'dispatch', mountPath: '/var/run/dispatch' }],
      },
    ],
    volumes: [
      {
        name: 'dispatch',
        projected: {
          sources: [{ serviceAccountToken: { audience: 'runners', expirationSeconds: 3600, path: 'token' } }],
        },
      },
    ],
  },
});

export const createPodMaker = async (client: Client, nodeName: string, mac: BenchMac): Promise<PodMaker> => {
  const seen = await watch(pods, client);
  const seenNodes = await watch(nodes, client);
  const withTimeLimit = async <T>(waiting: Promise<T>, what: string, describeState: () => unknown): Promise<T> => {
    const tooLong = Promise.withResolvers<never>();
    const timeout = setTimeout(
      () => tooLong.reject(new Error(`waited in vain until ${what}: ${JSON.stringify(describeState())}`)),
      patienceMs,
    );
    try {
      return await Promise.race([waiting, mac.broken, tooLong.promise]);
    } finally {
      clearTimeout(timeout);
    }
  };
  const until = async (name: string, what: string, holds: (pod: Pod | undefined) => boolean): Promise<number> => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const last = (): unknown => seen.cache.list().find(({ metadata }) => metadata.name === name)?.status;
    const end = seen.cache.subscribe((change) => {
      const isGone = change.type === 'removed';
      const pod = isGone ? change.previous : change.object;
      if (pod.metadata.name === name && holds(isGone ? undefined : pod)) resolve(now());
    });
    return withTimeLimit(promise, `Pod ${name} ${what}`, last).finally(end);
  };

  return {
    nodeReady: async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const conditions = () => seenNodes.cache.list().flatMap(({ status }) => status?.conditions ?? []);
      const look = (): void => {
        if (conditions().some(({ type, status }) => type === 'Ready' && status === 'True')) resolve();
      };
      const end = seenNodes.cache.subscribe(look);
      look();
      await withTimeLimit(promise, 'the Node is ready', conditions).finally(end);
    },
    start: async (name) => {
      const runs = until(name, 'runs', (pod) => pod?.status?.phase === 'Running');
      const created = await client.create(pods, podOf(name, nodeName, mac.image));
      const bound = now();
      return { uid: created.metadata.uid, bound, running: await runs };
    },
    remove: async (name) => {
      const gone = until(name, 'is gone', (pod) => pod === undefined);
      await client.delete(pods, { namespace, name }, { gracePeriodSeconds: 1 });
      await gone;
    },
    stop: async () => {
      await seen.stop();
      await seenNodes.stop();
    },
  };
};
