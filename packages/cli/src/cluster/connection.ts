import { type Client, createClient, httpsTransport, isKubeError, loadConfig, type Transport } from '@tartan/kube';
import { type Clock, systemClock } from '@tartan/kube/clock';

/** How a person names a cluster. Without either, as kubectl finds it. */
export interface ClusterChoice {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** A cluster that a command works on, whoever serves it. */
export interface Cluster {
  readonly client: Pick<Client, 'get' | 'list' | 'patch'>;
  readonly clock: Clock;
}

/** One that can also be followed, and asked what it is. */
export interface Connection extends Cluster {
  readonly client: Pick<Client, 'get' | 'list' | 'patch' | 'watch'>;
  readonly transport: Pick<Transport, 'send'>;
}

/** Runs something on the cluster that KUBECONFIG, or the choice, leads to. Rejects with ConfigError when there is none. */
export const withCluster = async <T>(
  { kubeconfig, context }: ClusterChoice,
  env: NodeJS.ProcessEnv,
  work: (cluster: Connection) => Promise<T>,
): Promise<T> => {
  const clock = systemClock;
  const config = await loadConfig({
    env,
    clock,
    ...(kubeconfig !== undefined && { kubeconfigPath: kubeconfig }),
    ...(context !== undefined && { context }),
  });
  const transport = httpsTransport({ ...config, clock });
  try {
    return await work({ client: createClient(transport, { clock }), clock, transport });
  } finally {
    transport.close();
  }
};

/** Says what a cluster would not do, why, and what to do about it. */
export class ClusterError extends Error {
  override readonly name = 'ClusterRefusal';
}

/** A call of which the refusal is told to a person: `what` completes "You may not …". */
export const explainRefusal = async <T>(what: string, advice: string, call: Promise<T>): Promise<T> => {
  try {
    return await call;
  } catch (error) {
    if (!isKubeError(error)) throw error;
    throw new ClusterError(refusalMessage(what, advice, error), { cause: error });
  }
};

const refusalMessage = (what: string, advice: string, error: { reason: string; message: string }): string => {
  switch (error.reason) {
    case 'forbidden':
      return `You may not ${what}. ${advice}`;
    case 'unauthorized':
      return `The cluster does not accept your credentials. Log in again, or name another kubeconfig with --kubeconfig FILE.`;
    case 'unreachable':
    case 'timeout':
      return `The cluster does not answer: ${error.message}. Is it the right one (kubectl config current-context), and are you on its network?`;
    default:
      return `The cluster refused to ${what}: ${error.message}`;
  }
};
