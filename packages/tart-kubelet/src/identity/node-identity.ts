import { type ClusterConfig, createClient, KubeError, type Logger, type Transport } from '@tartan/kube';
import { type Clock, type Random, sleep } from '@tartan/kube/clock';
import type { Lifetime } from '../certificates/lifetime.ts';
import { askForCertificate } from './ask-for-certificate.ts';
import { createBackOff } from './back-off.ts';
import { certificateFileOf, readCertificate, writeCertificate } from './certificate-file.ts';
import { isSameCluster, overHTTPS, type TransportFor } from './connection.ts';
import { decide, type Decision, isUsable, type Snapshot } from './decide.ts';
import { createJoinConfig } from './join-config.ts';
import type { NodeCertificate } from './node-certificate.ts';

export interface IdentityOptions {
  /** A path. The certificate is kept beside it. */
  readonly kubeconfig: string;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Over HTTPS unless told. */
  readonly transportFor?: TransportFor;
}

/** Who this Mac is to Kubernetes. */
export interface NodeIdentity {
  /** Requests of the Node, always with its latest certificate. Without one they fail as `unauthorized`. */
  readonly transport: Transport;
  /** Resolves when the Node has a certificate for the first time. */
  readonly ready: Promise<void>;
  /** Where the cluster is, once known: whoever needs its certificate authority. */
  readonly cluster: ClusterConfig | undefined;
  /** Of its latest certificate, also when that is refused or over. */
  readonly lifetime: Lifetime | undefined;
  /** Joins, renews and joins again until `signal` fires. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

interface Held {
  readonly certificate: NodeCertificate;
  readonly stored: boolean;
}

/**
 * From a join token over a certificate request to `system:node:<name>`, for as long as the agent runs.
 *
 * Flow: kubeconfig → request with its token → certificate, stored before it is used up → renewed at two thirds of its life with itself.
 * Expired or refused, the kubeconfig's credentials are tried again, at once when somebody has put others there.
 * Guarantees: nothing of a key or a token is in a log line or an error. A crash at any point costs one more request.
 * Caveats: a certificate that could not be written is used and written later; a restart before that needs new join credentials.
 */
export const createNodeIdentity = (options: IdentityOptions): NodeIdentity => {
  const { kubeconfig, nodeName, clock, random, log, transportFor = overHTTPS } = options;
  const file = certificateFileOf(kubeconfig);
  const joining = createJoinConfig(kubeconfig, clock, log);
  const backOff = createBackOff(clock, random);
  const ready = Promise.withResolvers<void>();
  let held: Held | undefined;
  let refused = false;
  let wake = new AbortController();
  let connection: { readonly cluster: ClusterConfig; readonly transport: Transport } | undefined;

  const snapshot = (): Snapshot => ({
    now: clock.now(),
    nodeName,
    certificate: held && { ...held.certificate, stored: held.stored },
    refused,
    clusterKnown: joining.config !== undefined,
    retryAt: backOff.retryAt,
  });

  const asNode = (cluster: ClusterConfig): ClusterConfig => ({
    ...cluster,
    credentials: async () => {
      if (held === undefined || !isUsable(snapshot()))
        throw new KubeError('unauthorized', `The Node ${nodeName} has no valid certificate: it has to join first.`);
      return { certificate: { cert: held.certificate.cert, key: held.certificate.key } };
    },
    refresh: (rejected) => {
      if (rejected?.certificate?.cert !== held?.certificate.cert || refused) return;
      refused = true;
      log.warn('The API server refused the certificate of the Node');
      wake.abort();
    },
  });

  const transport = (): Transport => {
    const cluster = joining.config;
    if (cluster === undefined)
      throw new KubeError('unauthorized', `There are no join credentials at ${kubeconfig}: the host steps bring them.`);
    if (connection === undefined || !isSameCluster(connection.cluster, cluster)) {
      connection?.transport.close();
      connection = { cluster, transport: transportFor(asNode(cluster), clock) };
    }
    return connection.transport;
  };

  const nodeTransport: Transport = {
    send: async (request) => {
      const before = held;
      const response = await transport().send(request);
      // Whatever it says, it knows who we are: an earlier 401 was a hiccup.
      if (response.code !== 401 && before === held) refused = false;
      return response;
    },
    open: async (request) => transport().open(request),
    close: () => connection?.transport.close(),
  };

  const observe = async (): Promise<Snapshot> => {
    held ??= await readStored();
    if (await joining.look()) backOff.forget();
    return snapshot();
  };
  const readStored = async (): Promise<Held | undefined> => {
    const certificate = await readCertificate(file);
    return certificate && { certificate, stored: true };
  };

  const take = async (certificate: NodeCertificate): Promise<void> => {
    held = { certificate, stored: false };
    refused = false;
    log.info('The Node has a new certificate', { until: new Date(certificate.notAfter).toISOString() });
    await store();
  };
  const store = async (): Promise<void> => {
    if (held === undefined) return;
    await writeCertificate(file, held.certificate);
    held = { ...held, stored: true };
  };

  const join = async (signal: AbortSignal): Promise<void> => {
    if (joining.config === undefined) return;
    const once = transportFor(joining.config, clock);
    try {
      await take(await askForCertificate(createClient(once, { clock }), nodeName, clock, signal));
    } finally {
      once.close();
    }
  };

  const act = async (decision: Decision, signal: AbortSignal): Promise<void> => {
    switch (decision.kind) {
      case 'store':
        return store();
      case 'renew':
        return take(await askForCertificate(createClient(nodeTransport, { clock }), nodeName, clock, signal));
      case 'join':
        return join(signal);
      case 'hold':
      case 'wait':
        return sleep(clock, decision.until - clock.now(), AbortSignal.any([signal, wake.signal]));
    }
  };

  const pass = async (signal: AbortSignal): Promise<void> => {
    const seen = await observe();
    if (isUsable(seen) && seen.clusterKnown) ready.resolve();
    const decision = decide(seen);
    if (wake.signal.aborted) wake = new AbortController();
    try {
      await act(decision, signal);
      if (decision.kind !== 'hold' && decision.kind !== 'wait') backOff.forget();
    } catch (error) {
      if (signal.aborted) return;
      backOff.fail();
      const nextTryMs = Math.round(backOff.retryAt - clock.now());
      log.warn('The Node could not get or keep its certificate', { doing: decision.kind, nextTryMs, error });
    }
  };

  return {
    transport: nodeTransport,
    ready: ready.promise,
    get cluster() {
      return joining.config;
    },
    get lifetime() {
      const { notBefore, notAfter } = held?.certificate ?? {};
      return notBefore === undefined || notAfter === undefined ? undefined : { notBefore, notAfter };
    },
    run: async (signal) => {
      while (!signal.aborted) await pass(signal);
      nodeTransport.close();
    },
  };
};
