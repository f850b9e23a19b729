import {
  type Client,
  type ClusterConfig,
  createClient,
  httpsTransport,
  KubeError,
  type Logger,
  type Transport,
} from '@tartan/kube';
import { type Clock, type Random, sleep } from '@tartan/kube/clock';
import { requestCertificate } from '../certificates/signing-request.ts';
import { createBackoff } from './backoff.ts';
import { decide, type Decision, isUsable, type Snapshot } from './decide.ts';
import { createKubeconfigFile } from './kubeconfig-file.ts';
import { certificatePath, type NodeCertificate, readCertificate, writeCertificate } from './node-certificate.ts';

/** Creates the transport to a configured API server. */
export type CreateTransport = (config: ClusterConfig, clock: Clock) => Transport;

const createHttpsTransport: CreateTransport = (config, clock) => httpsTransport({ ...config, clock });

/** The same API server with the same CA. */
const isSameCluster = (one: ClusterConfig, other: ClusterConfig): boolean =>
  one.server === other.server &&
  one.ca === other.ca &&
  one.serverName === other.serverName &&
  one.insecureSkipTlsVerify === other.insecureSkipTlsVerify;

/** A decision takes about a second. After this time the request counts as lost, and another one is sent. */
const approvalTimeoutMs = 5 * 60_000;

/** Requests a client certificate for this Node and waits for the decision. Needs only the permissions of `system:node-bootstrapper`. */
const requestClientCertificate = (
  client: Client,
  nodeName: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<NodeCertificate> =>
  requestCertificate({
    client,
    clock,
    signal,
    subject: { nodeName },
    generateName: 'node-csr-',
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['client auth', 'digital signature'],
    timeoutMs: approvalTimeoutMs,
  });

export interface IdentityOptions {
  /** A path. The certificate is stored beside it. */
  readonly kubeconfig: string;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Default: over HTTPS. */
  readonly createTransport?: CreateTransport;
}

/**
 * Turns a join token into a certificate of `system:node:<name>`, and keeps it valid while the agent runs.
 *
 * Flow: kubeconfig → request with its token → certificate, persisted → renewed with itself after two thirds of its lifetime. When it
 * has expired or is rejected, the kubeconfig's credentials are tried again, immediately when they change.
 * Guarantees: no log line or error contains any of a key or token. A crash at any point costs one more request.
 * Caveats: a certificate that could not be written is used and written later; a restart before that needs new join credentials.
 */
export const createNodeIdentity = (options: IdentityOptions) => {
  const { kubeconfig, nodeName, clock, random, log, createTransport = createHttpsTransport } = options;
  const file = certificatePath(kubeconfig);
  const kubeconfigFile = createKubeconfigFile(kubeconfig, clock, log);
  const backoff = createBackoff(clock, random);
  const ready = Promise.withResolvers<void>();
  let current: (NodeCertificate & { readonly stored: boolean }) | undefined;
  let refused = false;
  let wake = new AbortController();
  let connection: { readonly cluster: ClusterConfig; readonly transport: Transport } | undefined;

  const snapshot = (): Snapshot => ({
    now: clock.now(),
    nodeName,
    certificate: current,
    refused,
    clusterKnown: kubeconfigFile.config !== undefined,
    retryAt: backoff.retryAt,
  });

  const asNode = (cluster: ClusterConfig): ClusterConfig => ({
    ...cluster,
    credentials: async () => {
      if (current === undefined || !isUsable(snapshot()))
        throw new KubeError('unauthorized', `The Node ${nodeName} has no valid certificate: it has to join first.`);
      return { certificate: { cert: current.cert, key: current.key } };
    },
    refresh: (rejected) => {
      if (rejected?.certificate?.cert !== current?.cert || refused) return;
      refused = true;
      log.warn('The API server refused the certificate of the Node');
      wake.abort();
    },
  });

  const transport = (): Transport => {
    const cluster = kubeconfigFile.config;
    if (cluster === undefined)
      throw new KubeError('unauthorized', `There are no join credentials at ${kubeconfig}: the host steps bring them.`);
    if (connection === undefined || !isSameCluster(connection.cluster, cluster)) {
      connection?.transport.close();
      connection = { cluster, transport: createTransport(asNode(cluster), clock) };
    }
    return connection.transport;
  };

  const nodeTransport: Transport = {
    send: async (request) => {
      const before = current;
      const response = await transport().send(request);
      // Any other response means that the server accepts the certificate: an earlier 401 was temporary.
      if (response.code !== 401 && before === current) refused = false;
      return response;
    },
    close: () => connection?.transport.close(),
  };

  const observe = async (): Promise<Snapshot> => {
    const stored = current ?? (await readCertificate(file));
    current ??= stored && { ...stored, stored: true };
    if (await kubeconfigFile.reload()) backoff.reset();
    return snapshot();
  };

  const useCertificate = async (certificate: NodeCertificate): Promise<void> => {
    current = { ...certificate, stored: false };
    refused = false;
    log.info('The Node has a new certificate', { until: new Date(certificate.notAfter).toISOString() });
    await store();
  };
  const store = async (): Promise<void> => {
    if (current === undefined) return;
    await writeCertificate(file, current);
    current = { ...current, stored: true };
  };

  const join = async (signal: AbortSignal): Promise<void> => {
    if (kubeconfigFile.config === undefined) return;
    const once = createTransport(kubeconfigFile.config, clock);
    try {
      await useCertificate(await requestClientCertificate(createClient(once, { clock }), nodeName, clock, signal));
    } finally {
      once.close();
    }
  };

  const act = async (decision: Decision, signal: AbortSignal): Promise<void> => {
    switch (decision.kind) {
      case 'store':
        return store();
      case 'renew':
        return useCertificate(
          await requestClientCertificate(createClient(nodeTransport, { clock }), nodeName, clock, signal),
        );
      case 'join':
        return join(signal);
      case 'valid':
      case 'wait':
        return sleep(clock, decision.until - clock.now(), AbortSignal.any([signal, wake.signal]));
    }
  };

  const reconcile = async (signal: AbortSignal): Promise<void> => {
    const observed = await observe();
    if (isUsable(observed) && observed.clusterKnown) ready.resolve();
    const decision = decide(observed);
    if (wake.signal.aborted) wake = new AbortController();
    try {
      await act(decision, signal);
      if (decision.kind !== 'valid' && decision.kind !== 'wait') backoff.reset();
    } catch (error) {
      if (signal.aborted) return;
      backoff.failed();
      const nextTryMs = Math.round(backoff.retryAt - clock.now());
      log.warn('The Node could not get or keep its certificate', { doing: decision.kind, nextTryMs, error });
    }
  };

  return {
    /** Transport with the Node's latest certificate. Without one, requests fail as `unauthorized`. */
    transport: nodeTransport,
    /** Resolves when the Node has its first certificate. */
    ready: ready.promise,
    /** The cluster's configuration, once known, for its address and CA. */
    get cluster() {
      return kubeconfigFile.config;
    },
    /** Of the latest certificate, even if it is rejected or has expired. */
    get validity() {
      return current;
    },
    /** Joins, renews and joins again until `signal` fires. Never rejects. */
    run: async (signal: AbortSignal) => {
      while (!signal.aborted) await reconcile(signal);
      nodeTransport.close();
    },
  };
};

/** The Mac's identity in Kubernetes. */
export type NodeIdentity = ReturnType<typeof createNodeIdentity>;
