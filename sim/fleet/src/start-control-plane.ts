import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kindNames } from '@tartan/api';
import { createLogger, createSubresources, customResourceDefinitions, ignoreNotFound } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { createClusterApi } from '@tartan/sim-cluster-api';
import { adminKubeconfig, createKubernetes, serve } from '@tartan/sim-kubernetes';
import { connect, type ControlPlane } from './control-plane.ts';

interface EmbeddedOptions {
  /** Gets the kubeconfig. */
  readonly folder: string;
  /** 0: any free port. */
  readonly port?: number;
  /** The folder of the objects. Undefined: they are kept in memory. */
  readonly data?: string;
}

/** The embedded Kubernetes over HTTPS, with RBAC as on a real one. */
export const startEmbedded = async ({ folder, port = 0, data }: EmbeddedOptions): Promise<ControlPlane> => {
  const kubernetes = await createKubernetes(data === undefined ? {} : { data });
  const { handle, identity } = kubernetes;
  const listen = (wanted: number) => serve({ handle, identity, port: wanted });
  let server = await listen(port).catch((error: unknown) => {
    kubernetes.stop();
    throw error;
  });
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, await adminKubeconfig(identity, server.url), { mode: 0o600 });
  const connection = await connect(kubeconfig);
  return {
    ...connection,
    kubeconfig,
    needsClusterApi: true,
    pause: async () => {
      await server.close();
      return async () => {
        server = await listen(server.port);
      };
    },
    stop: async () => {
      connection.transport.close();
      await server.close();
      kubernetes.stop();
    },
  };
};

const machineDeploymentCRD = 'machinedeployments.cluster.x-k8s.io';

/** An existing cluster, with or without Cluster API. Our kinds must not be installed. */
export const useExistingCluster = async (kubeconfig: string): Promise<ControlPlane> => {
  const connection = await connect(kubeconfig);
  const { client, transport } = connection;
  const isInstalled = async (name: string): Promise<boolean> =>
    (await ignoreNotFound(client.get(customResourceDefinitions, { name }))) !== undefined;
  const { plural, group } = kindNames.macHost;
  try {
    if (await isInstalled(`${plural}.${group}`))
      throw new Error(
        `the cluster of ${kubeconfig} already has a fleet (${plural}.${group} is installed): a simulated one would manage its machines. ` +
          'Choose another cluster, or leave --kubernetes out for the embedded one.',
      );
    const needsClusterApi = !(await isInstalled(machineDeploymentCRD));
    return { ...connection, kubeconfig, needsClusterApi, pause: undefined, stop: async () => transport.close() };
  } catch (error) {
    transport.close();
    throw error;
  }
};

/** etcd, kube-apiserver, kube-controller-manager and kube-scheduler, built with Go if needed. Needs a checkout. */
export const startReal = async (): Promise<ControlPlane> => {
  const { startControlPlane } = await import('@tartan/tools-kubernetes').catch((cause: unknown) => {
    throw new Error(
      'a real Kubernetes is built from source, which only a checkout of Tartan can do. Use one, or leave --kubernetes out.',
      { cause },
    );
  });
  const plane = await startControlPlane({ controllerManager: true, scheduler: true });
  const connection = await connect(plane.adminKubeconfigPath);
  return {
    ...connection,
    kubeconfig: plane.adminKubeconfigPath,
    needsClusterApi: true,
    pause: undefined,
    stop: async () => {
      connection.transport.close();
      await plane.stop();
    },
  };
};

/** Shorter retries than in production. */
const intervals = { drainRetryMs: 1_000, externalRetryMs: 2_000, deletionRetryMs: 500 };

/** Starts the stand-in for Cluster API core. */
export const startClusterApi = (
  { client, transport }: ControlPlane,
  write: (line: string) => void,
): { readonly failure: Promise<never>; stop(): Promise<unknown> } => {
  const { evictPod } = createSubresources(transport, { clock });
  const log = createLogger({ write, clock, level: 'info' });
  const stopping = new AbortController();
  const running = createClusterApi({ client, evictPod, clock, random: Math.random, log, intervals }).run(
    stopping.signal,
  );
  const failure = running.then(async (result): Promise<never> => {
    if (!result.ok && !stopping.signal.aborted)
      throw new Error(`the stand-in for Cluster API core has ended: ${result.reason}`);
    return new Promise<never>(() => {});
  });
  failure.catch(() => {});
  return {
    failure,
    stop: () => {
      stopping.abort();
      return running;
    },
  };
};
