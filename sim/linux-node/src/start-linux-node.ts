import { randomInt } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import {
  configMaps,
  createClient,
  createInformer,
  createLogger,
  createSubresources,
  isKubeError,
  type KubeObject,
  type Live,
  pods,
  type Resource,
  secrets,
  type Transport,
} from '@tartan/kube';
import { type Clock, systemClock } from '@tartan/kube/clock';
import type { Image } from './container/start-container.ts';
import type { ConfigSource } from './pod/environment.ts';
import type { Pod } from './pod/pod.ts';
import { type PodRun, runPod } from './pod/run-pod.ts';
import { registerNode, renewLease } from './register-node.ts';

export interface LinuxNodeOptions {
  readonly name: string;
  /** With at least the permissions of a kubelet. The caller closes it. */
  readonly transport: Transport;
  /** The address of the API server for containers. */
  readonly url: string;
  /** For volumes and logs. */
  readonly folder: string;
  /** By the image reference of a Pod. May change while the Node runs. */
  readonly images: ReadonlyMap<string, Image>;
  /** Milliseconds per second of probes and back-offs. Default: 1000. */
  readonly secondMs?: number;
  /** The kubelet version of the Node. */
  readonly version?: string;
  readonly clock?: Clock;
}

/**
 * Caveats: containers share the network of this machine (each Pod has its own loopback address, and must listen only there), memory and CPU
 * are not limited, there are no init containers, and logs are files, not an API.
 */
export interface LinuxNode {
  readonly name: string;
  /** The folder with the output of containers, `<namespace>_<pod>_<container>.log`, kept after the Pod is gone; and errors in `node.log`. */
  readonly logs: string;
  /** Ends all processes of its Pods. Its objects in the cluster stay. */
  stop(): Promise<void>;
}

/** A random address that is probably unused on this machine: addresses of 127.0.0.0/8 need no setup. */
const loopbackAddress = (): string => `127.${randomInt(64, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;

const text = (base64: string): string => Buffer.from(base64, 'base64').toString();

export const startLinuxNode = async (options: LinuxNodeOptions): Promise<LinuxNode> => {
  const { name, transport, url, folder, images, secondMs = 1000, version = 'v1.36.3', clock = systemClock } = options;
  const client = createClient(transport, { clock });
  const { createToken } = createSubresources(transport, { clock });
  const hostIP = loopbackAddress();
  const logs = join(folder, 'logs');
  await mkdir(logs, { recursive: true });
  await registerNode(client, clock, { name, hostIP, version });

  const read = async <T extends KubeObject>(resource: Resource<T>, which: { name: string; namespace: string }) => {
    try {
      return await client.get(resource, which);
    } catch (error) {
      if (isKubeError(error, 'notFound')) return undefined;
      throw error;
    }
  };
  const storedIn = (namespace: string): ConfigSource => ({
    secret: async (which) => {
      const found = await read(secrets, { name: which, namespace });
      return found && Object.fromEntries(Object.entries(found.data ?? {}).map(([key, value]) => [key, text(value)]));
    },
    configMap: async (which) => {
      const found = await read(configMaps, { name: which, namespace });
      return found && { ...found.data };
    },
  });
  const { hostname, port } = new URL(url);
  const usualEnv = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };

  const runs = new Map<string, PodRun>();
  const startPod = (pod: Pod): PodRun => {
    const { namespace = '', uid, name: podName } = pod.metadata;
    const bound = { apiVersion: 'v1', kind: 'Pod', name: podName, uid };
    const onError = (error: unknown): void =>
      appendFileSync(join(logs, 'node.log'), `${namespace}/${podName}: ${inspect(error)}\n`);
    const run = runPod(pod, {
      onError,
      client,
      clock,
      folder: join(folder, uid),
      logs,
      images,
      podIP: loopbackAddress(),
      hostIP,
      secondMs,
      serviceEnv: { ...usualEnv, HOSTNAME: podName },
      stored: storedIn(namespace),
      token: async ({ audience, expirationSeconds }) => {
        const account = { namespace, name: pod.spec?.serviceAccountName ?? 'default' };
        const audiences = audience === undefined ? [] : [audience];
        const spec = {
          audiences,
          boundObjectRef: bound,
          ...(expirationSeconds !== undefined && { expirationSeconds }),
        };
        return (await createToken(account, spec)).token;
      },
    });
    void run.done.catch(onError).finally(() => runs.delete(uid));
    return run;
  };
  const syncPod = (pod: Live<Pod>): void => {
    const { uid, deletionTimestamp } = pod.metadata;
    const isOver = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    let run = runs.get(uid);
    if (run === undefined && (!isOver || deletionTimestamp !== undefined)) {
      run = startPod(pod);
      runs.set(uid, run);
    }
    if (deletionTimestamp !== undefined) run?.remove(pod);
  };

  const stopping = new AbortController();
  const cache = createInformer({
    client,
    resource: pods,
    fieldSelector: `spec.nodeName=${name}`,
    clock,
    random: Math.random,
    log: createLogger({ write: () => {}, clock, level: 'error' }),
  });
  cache.subscribe((change) => {
    if (change.type !== 'removed') return syncPod(change.object);
    // A forced deletion: there is no Pod to report to.
    runs.get(change.previous.metadata.uid)?.abandon();
  });
  const followed = cache.run(stopping.signal);
  const leased = renewLease(client, clock, name, stopping.signal);
  return {
    name,
    logs,
    stop: async () => {
      stopping.abort();
      await Promise.all([followed, leased]);
      const left = [...runs.values()];
      for (const run of left) run.abandon();
      await Promise.allSettled(left.map(({ done }) => done));
    },
  };
};
