import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kindNames } from '@tartan/api';
import { createLogger, createSubresources, customResourceDefinitions, isKubeError } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { createClusterApi } from '@tartan/sim-cluster-api';
import { adminKubeconfig, createKubernetes, serve } from '@tartan/sim-kubernetes';
import { connect, type ControlPlane } from './control-plane.ts';

interface EmbeddedOptions {
  /** For the kubeconfig. */
  readonly folder: string;
  /** 0 takes any that is free. */
  readonly port?: number;
  /** Keeps every object there; without it they are in memory. */
  readonly data?: string;
}

/** The embedded Kubernetes over HTTPS. Nobody has more rights than on a real one. */
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
  const { url, ca, client, transport } = await connect(kubeconfig);
  return {
    url,
    kubeconfig,
    ca,
    client,
    transport,
    needsClusterApi: true,
    pause: async () => {
      await server.close();
      return async () => {
        server = await listen(server.port);
      };
    },
    stop: async () => {
      transport.close();
      await server.close();
      kubernetes.stop();
    },
  };
};

const machineDeploymentCRD = 'machinedeployments.cluster.x-k8s.io';

/** A cluster that somebody has. Where Cluster API is installed it does its own work; our own kinds must not be in use. */
export const useExistingCluster = async (kubeconfig: string): Promise<ControlPlane> => {
  const { url, ca, client, transport } = await connect(kubeconfig);
  const isThere = async (name: string): Promise<boolean> => {
    try {
      await client.get(customResourceDefinitions, { name });
      return true;
    } catch (error) {
      if (isKubeError(error, 'notFound')) return false;
      throw error;
    }
  };
  const { plural, group } = kindNames.macHost;
  try {
    if (await isThere(`${plural}.${group}`))
      throw new Error(
        `the cluster of ${kubeconfig} has a fleet already (there are ${plural}.${group}): a simulated one beside it would take its machines. ` +
          'Choose another cluster, or leave --kubernetes out for the embedded one.',
      );
    const needsClusterApi = !(await isThere(machineDeploymentCRD));
    return {
      url,
      kubeconfig,
      ca,
      client,
      transport,
      needsClusterApi,
      pause: undefined,
      stop: async () => transport.close(),
    };
  } catch (error) {
    transport.close();
    throw error;
  }
};

/** etcd, kube-apiserver, kube-controller-manager and kube-scheduler, built when they are not there. For checkouts: it takes Go. */
export const startReal = async (): Promise<ControlPlane> => {
  const { startControlPlane } = await import('@tartan/tools-kubernetes').catch((cause: unknown) => {
    throw new Error(
      'a real Kubernetes is built from source, which only a checkout of Tartan can do. Use one, or leave --kubernetes out.',
      { cause },
    );
  });
  const plane = await startControlPlane({ controllerManager: true, scheduler: true });
  const { url, ca, client, transport } = await connect(plane.adminKubeconfigPath);
  return {
    url,
    kubeconfig: plane.adminKubeconfigPath,
    ca,
    client,
    transport,
    needsClusterApi: true,
    pause: undefined,
    stop: async () => {
      transport.close();
      await plane.stop();
    },
  };
};

/** Whoever plays Cluster API core looks again sooner than the real one: nothing here takes minutes. */
const intervals = { drainRetryMs: 1_000, externalRetryMs: 2_000, deletionRetryMs: 500 };

/** The stand-in for Cluster API core. Answers with what stops it. */
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
