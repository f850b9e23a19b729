import type { Client, Transport } from '@tartan/kube';
import { type Random, sleep } from '@tartan/kube/clock';
import { createSelfSignedCertificate, type Validity } from '../certificates/x509.ts';
import { createBackoff } from '../identity/backoff.ts';
import type { NodeCertificate } from '../identity/node-certificate.ts';
import { createReviews } from './auth/reviews.ts';
import { createKubeletApi, type KubeletApiOptions } from './server.ts';
import { keepServingCertificate } from './serving-certificate.ts';

export interface ServerSupervisorOptions extends Omit<KubeletApiOptions, 'reviews' | 'host' | 'clientCA' | 'keyPair'> {
  /** With the Node's credentials: reviews and certificate requests use its permissions. */
  readonly client: Client;
  readonly transport: Transport;
  /** The Node's current address. */
  readonly address: () => string | undefined;
  /** The CA for client certificates, from the join credentials. */
  readonly clientCA: () => string | undefined;
  /** File of the serving certificate. */
  readonly file: string;
  readonly random: Random;
  /** Called whenever it starts to listen. */
  readonly onListening?: (port: number) => void;
}

/** A Node's address changes with its tailnet, a few times a year. */
const pollMs = 5_000;
const startupPollMs = 500;
const maxRetryMs = 60_000;

/**
 * Flow: waits for the Node's address → listens with a self-signed certificate → switches to the approved certificate when issued →
 * restarts when the address or the cluster's CA changes.
 * Guarantees: accepts no client certificate without a CA. Logs and retries all errors.
 */
export const createServerSupervisor = (options: ServerSupervisorOptions) => {
  const { client, transport, address, clientCA, file, random, onListening, ...common } = options;
  const { nodeName, port, clock, log } = common;
  const reviews = createReviews({ transport, clock, nodeName });
  const backoff = createBackoff(clock, random, maxRetryMs);
  let bound: number | undefined;
  let validity: Validity | undefined;

  interface Endpoint {
    readonly host: string;
    readonly ca: string;
  }
  /** While the address is unknown, it counts as unchanged. */
  const hasChanged = ({ host, ca }: Endpoint): boolean => (address() ?? host) !== host || (clientCA() ?? ca) !== ca;
  const waitForChange = async (endpoint: Endpoint, until: number, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && !hasChanged(endpoint) && clock.now() < until)
      await sleep(clock, Math.min(pollMs, until - clock.now()), signal);
  };

  const serveOn = async (place: Endpoint, signal: AbortSignal): Promise<void> => {
    const subject = { nodeName, address: place.host };
    const keyPair = createSelfSignedCertificate(subject, clock.now());
    const api = createKubeletApi({ ...common, reviews, host: place.host, clientCA: place.ca, keyPair });
    const stop = new AbortController();
    const ended = AbortSignal.any([signal, stop.signal]);
    const serving = api.run(ended).finally(() => stop.abort());
    // `api.address` stays pending if it cannot listen.
    const listening = await Promise.race([api.address, serving]);
    if (listening === undefined) return;
    backoff.reset();
    bound = listening.port;
    onListening?.(listening.port);
    const onCertificate = (approved: NodeCertificate): void => {
      api.setKeyPair(approved);
      validity = approved;
    };
    const certificate = keepServingCertificate({ client, subject, file, onCertificate, clock, random, log }, ended);
    const changed = waitForChange(place, Number.POSITIVE_INFINITY, ended).finally(() => stop.abort());
    try {
      await Promise.all([certificate, changed]);
      await serving;
    } finally {
      bound = undefined;
      validity = undefined;
    }
  };

  let warnedAboutCA = false;
  const currentEndpoint = (): Endpoint | undefined => {
    const [host, ca] = [address(), clientCA()];
    if (host !== undefined && ca !== undefined) return { host, ca };
    if (host !== undefined && !warnedAboutCA) {
      warnedAboutCA = true;
      log.warn('The kubelet API is not served: the kubeconfig names no certificate authority of the cluster');
    }
    return undefined;
  };

  return {
    /** The current port. */
    port: () => bound,
    /** Of the approved certificate. Undefined while the certificate is self-signed, which no client trusts. */
    validity: () => validity,
    /** Runs until `signal` fires. Never rejects: the Mac runs Pods even without this server. */
    run: async (signal: AbortSignal) => {
      while (!signal.aborted) {
        const place = currentEndpoint();
        if (place === undefined) {
          await sleep(clock, startupPollMs, signal);
          continue;
        }
        try {
          await serveOn(place, signal);
        } catch (error) {
          if (signal.aborted) return;
          backoff.failed();
          const facts = { host: place.host, port, nextTryMs: Math.round(backoff.retryAt - clock.now()), error };
          log.warn('The kubelet API is not served: kubectl logs, exec and the like fail until it is', facts);
          await waitForChange(place, backoff.retryAt, signal);
        }
      }
    },
  };
};

/** Keeps the kubelet API of this Mac running at the Node's current address. */
export type ServerSupervisor = ReturnType<typeof createServerSupervisor>;
