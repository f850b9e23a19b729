import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, isKubeError, pods } from '@tartan/kube';
import { type Clock, sleep, timestamp } from '@tartan/kube/clock';
import { type Image, type RunningContainer, startContainer } from '../container/start-container.ts';
import { ImagePullError, superviseContainer } from '../container/supervise-container.ts';
import { type ConfigSource, environmentOf, expand, fieldOf } from './environment.ts';
import { type Container, ContainerConfigError, type ContainerSnapshot, type Pod, podStatus } from './pod.ts';
import { makeVolumes, type VolumeSources } from './volumes.ts';

export interface PodRunOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Only for this Pod; removed with it. */
  readonly folder: string;
  /** The folder of its containers' output. */
  readonly logs: string;
  readonly images: ReadonlyMap<string, Image>;
  readonly podIP: string;
  readonly hostIP: string;
  readonly secondMs: number;
  readonly serviceEnv: Readonly<Record<string, string>>;
  readonly stored: ConfigSource;
  readonly token: VolumeSources['token'];
  /** Gets errors that are not in the status of the Pod. */
  readonly onError: (error: unknown) => void;
}

export interface PodRun {
  /** The Pod has a deletion timestamp: ends it, reports that, and deletes it. */
  remove(pod: Pod): void;
  /** Ends its processes without a report: the Node is stopping. */
  abandon(): void;
  readonly done: Promise<void>;
}

/** Starts its containers at once, one process each. */
export const runPod = (pod: Pod, options: PodRunOptions): PodRun => {
  const { client, clock, folder, logs, images, podIP, hostIP, secondMs, stored } = options;
  const { name, namespace = '', uid } = pod.metadata;
  const { containers = [], volumes = [], restartPolicy, securityContext } = pod.spec ?? {};
  const which = { name, namespace };
  const stopping = new AbortController();
  const abandoned = new AbortController();
  const startTime = timestamp(clock.now());
  const field = (path: string): string => fieldOf(pod, podIP, hostIP, path);
  const facts = new Map<string, ContainerSnapshot>();
  let latest = pod;

  /** One write at a time; changes meanwhile are in the next. */
  let writing = Promise.resolve();
  let isDue = false;
  const write = async (): Promise<void> => {
    isDue = false;
    if (abandoned.signal.aborted || facts.size < containers.length) return;
    const status = podStatus(latest, [...facts.values()], { podIP, hostIP, startTime, now: timestamp(clock.now()) });
    try {
      const body = { metadata: { uid }, status };
      latest = await client.patch(pods, which, { type: 'strategic', body }, { subresource: 'status' });
    } catch (error) {
      if (isKubeError(error, 'notFound', 'conflict', 'aborted')) return;
      if (!isKubeError(error, 'unreachable', 'timeout', 'serverError', 'tooManyRequests'))
        return options.onError(error);
      await sleep(clock, secondMs, abandoned.signal);
      return write();
    }
  };
  const report = (): Promise<void> => {
    if (!isDue) {
      isDue = true;
      writing = writing.then(write);
    }
    return writing;
  };

  let made: Promise<ReadonlyMap<string, string>> | undefined;
  const volumesOf = async (): Promise<ReadonlyMap<string, string>> => {
    made ??= makeVolumes(join(folder, 'volumes'), volumes, { stored, field, token: options.token });
    try {
      return await made;
    } catch (error) {
      made = undefined;
      throw error;
    }
  };

  const start = async (container: Container, attempt: number): Promise<RunningContainer> => {
    const image = images.get(container.image ?? '');
    if (image === undefined) throw new ImagePullError(`failed to pull image "${container.image}": this Node has none`);
    const { runAsUser, runAsNonRoot, readOnlyRootFilesystem } = { ...securityContext, ...container.securityContext };
    const user = runAsUser ?? image.user ?? 0;
    if (runAsNonRoot === true && user === 0)
      throw new ContainerConfigError('container has runAsNonRoot and image will run as root');
    const places = await volumesOf();
    const env = await environmentOf(container, { usual: options.serviceEnv, field, stored });
    const command = [...(container.command ?? []), ...(container.args ?? [])].map((text) => expand(text, env));
    if (command.length === 0) throw new ContainerConfigError('no command specified');
    const mounts = (container.volumeMounts ?? []).map(({ name: of, mountPath, readOnly = false, subPath = '' }) => {
      const place = places.get(of);
      if (place === undefined) throw new ContainerConfigError(`there is no volume ${of}`);
      return { folder: join(place, subPath), path: mountPath, readOnly };
    });
    await mkdir(logs, { recursive: true });
    return startContainer({
      image: image.folder,
      scratch: join(folder, `${container.name}-${attempt}`),
      log: join(logs, `${namespace}_${name}_${container.name}.log`),
      command,
      env,
      user,
      readOnlyRoot: readOnlyRootFilesystem === true,
      mounts,
    });
  };

  let graceSeconds = pod.spec?.terminationGracePeriodSeconds ?? 30;
  const graceMs = (): number => (abandoned.signal.aborted ? 0 : graceSeconds * 1000);
  const supervise = (container: Container): Promise<void> => {
    let attempt = 0;
    const onStatus = (now: ContainerSnapshot): void => {
      facts.set(container.name, now);
      void report();
    };
    return superviseContainer({
      container,
      restartPolicy,
      podIP,
      clock,
      secondMs,
      start: () => start(container, attempt++),
      graceMs,
      stopping: stopping.signal,
      onStatus,
    });
  };

  const runToEnd = async (): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await Promise.all(containers.map(supervise));
    await report();
    // A Pod that has ended by itself stays until it is deleted.
    if (!stopping.signal.aborted)
      await new Promise((resolve) => stopping.signal.addEventListener('abort', resolve, { once: true }));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    if (abandoned.signal.aborted) return;
    await client.delete(pods, which, { gracePeriodSeconds: 0, preconditions: { uid } }).catch((error: unknown) => {
      if (!isKubeError(error, 'notFound', 'conflict')) throw error;
    });
  };

  return {
    remove: ({ metadata }) => {
      graceSeconds = metadata.deletionGracePeriodSeconds ?? graceSeconds;
      stopping.abort();
    },
    abandon: () => {
      abandoned.abort();
      stopping.abort();
    },
    done: runToEnd(),
  };
};
