import type { Client, Transport } from '@tartan/kube';
import { type Random, sleep } from '@tartan/kube/clock';
import { createSelfSignedCertificate, type Validity } from '../certificates/x509.ts';
import { createBackoff } from '../identity/backoff.ts';
import type { NodeCertificate } from '../identity/node-certificate.ts';
import { createReviews } from './auth/reviews.ts';
import { createKubeletApi, type KubeletApiOptions } from './server.ts';
import { keepServingCertificate } from './serving-certificate.ts';

export interface ServerSupervisorOptions extends Omit<KubeletApiOptions, 'reviews' | 'host' | 'clientCA' | 'keyPair'> {
  /** As the Node: both reviews and the certificate are asked for with its own rights. */
  readonly client: Client;
  readonly transport: Transport;
  /** That of the Node, as it is known now. */
  readonly address: () => string | undefined;
  /** Whose client certificates are believed; it comes with the join credentials. */
  readonly clientCA: () => string | undefined;
  /** Where the serving certificate is kept. */
  readonly file: string;
  readonly random: Random;
  /** Called each time that it listens. */
  readonly onListening?: (port: number) => void;
}

/** The address of a Node changes when its tailnet does, a few times a year. */
const pollMs = 5_000;
const startupPollMs = 500;
const maxRetryMs = 60_000;

/**
 * Flow: waits for the Node's address → listens there with a certificate of its own making → uses the approved one once there is one →
 * begins anew when the address, or the authority of the cluster, is another.
 * Guarantees: believes no client certificate without an authority. What goes wrong is in the log, and tried again.
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
  /** An address that is not known at the moment is the old one. */
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
    // The former stays open when it cannot listen.
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
    /** On which it listens now. */
    port: () => bound,
    /** Of the certificate that the API server knows us by. Undefined while it is one of our own making, which nobody trusts. */
    validity: () => validity,
    /** Until `signal` fires. Never rejects: without it the Mac still runs Pods. */
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

/** The kubelet API of this Mac, wherever its Node is reached. */
export type ServerSupervisor = ReturnType<typeof createServerSupervisor>;
