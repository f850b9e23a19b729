import { type Client, createClient, httpsTransport, isKubeError, loadConfig, type Transport } from '@tartan/kube';
import { type Clock, systemClock } from '@tartan/kube/clock';

/** Without either, the cluster that kubectl uses. */
export interface ClusterChoice {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export interface Cluster {
  readonly client: Pick<Client, 'get' | 'list' | 'patch'>;
  readonly clock: Clock;
}

export interface Connection extends Cluster {
  readonly client: Pick<Client, 'get' | 'list' | 'patch' | 'watch'>;
  readonly transport: Pick<Transport, 'send'>;
}

/** Connects to the cluster, and closes the connection afterwards. Rejects with ConfigError if none is configured. */
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

/** Turns an error of the API server into a text for people. `what` completes "You may not …". */
export const explainRefusal = async <T>(what: string, advice: string, call: Promise<T>): Promise<T> => {
  try {
    return await call;
  } catch (error) {
    if (!isKubeError(error)) throw error;
    throw new Error(refusalMessage(what, advice, error), { cause: error });
  }
};

const refusalMessage = (what: string, advice: string, error: { reason: string; message: string }): string => {
  switch (error.reason) {
    case 'forbidden':
      return `You may not ${what}. ${advice}`;
    case 'unauthorized':
      return 'The cluster does not accept your credentials. Log in again, or choose another kubeconfig with --kubeconfig FILE.';
    case 'unreachable':
    case 'timeout':
      return `The cluster does not answer: ${error.message}. Check that it is the right one (kubectl config current-context), and that you are on its network.`;
    default:
      return `The cluster refused to ${what}: ${error.message}`;
  }
};
