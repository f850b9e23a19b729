import type { Client, Transport } from '@tartan/kube';
import { type Random, sleep } from '@tartan/kube/clock';
import type { Lifetime } from '../certificates/lifetime.ts';
import { makeSelfSigned } from '../certificates/self-signed.ts';
import { createBackOff } from '../identity/back-off.ts';
import { createReviews } from './access/reviews.ts';
import { createKubeletApi, type KubeletApiOptions } from './server.ts';
import { createServingCertificate } from './serving-certificate.ts';
import { certificateOf, identityFile, lifetimeOf } from './serving-identity.ts';

export interface ServedApiOptions extends Omit<KubeletApiOptions, 'reviews' | 'host' | 'clientCA' | 'identity'> {
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
  /** Told each time that it listens. */
  readonly onListening?: (port: number) => void;
}

/** The kubelet API of this Mac, wherever its Node is reached. */
export interface ServedApi {
  /** Until `signal` fires. Never rejects: without it the Mac still runs Pods. */
  run(signal: AbortSignal): Promise<void>;
  /** On which it listens now. */
  port(): number | undefined;
  /** Of the certificate that the API server knows us by. Undefined while it is one of our own making, which nobody trusts. */
  lifetime(): Lifetime | undefined;
}

/** The address of a Node changes when its tailnet does, a few times a year. */
const lookMs = 5_000;
const soonMs = 500;
const longestRetryMs = 60_000;

/**
 * Flow: waits for the Node's address → listens there with a certificate of its own making → uses the approved one once there is one →
 * begins anew when the address, or the authority of the cluster, is another.
 * Guarantees: believes no client certificate without an authority. What goes wrong is in the log, and tried again.
 */
export const createServedApi = (options: ServedApiOptions): ServedApi => {
  const { client, transport, address, clientCA, file, random, onListening, ...common } = options;
  const { nodeName, port, clock, log } = common;
  const reviews = createReviews({ transport, clock, nodeName });
  const store = identityFile(file);
  const backOff = createBackOff(clock, random, longestRetryMs);
  let bound: number | undefined;
  let lifetime: Lifetime | undefined;

  interface Place {
    readonly host: string;
    readonly ca: string;
  }
  /** An address that is not known at the moment is the old one. */
  const hasMoved = ({ host, ca }: Place): boolean => (address() ?? host) !== host || (clientCA() ?? ca) !== ca;
  const whileThere = async (place: Place, until: number, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && !hasMoved(place) && clock.now() < until)
      await sleep(clock, Math.min(lookMs, until - clock.now()), signal);
  };

  const serveAt = async (place: Place, signal: AbortSignal): Promise<void> => {
    const subject = { nodeName, addresses: [place.host] };
    const identity = makeSelfSigned(subject, clock.now());
    const api = createKubeletApi({ ...common, reviews, host: place.host, clientCA: place.ca, identity });
    const stop = new AbortController();
    const over = AbortSignal.any([signal, stop.signal]);
    const serving = api.run(over).finally(() => stop.abort());
    // The former stays open when it cannot listen.
    const listening = await Promise.race([api.address, serving]);
    if (listening === undefined) return;
    backOff.forget();
    bound = listening.port;
    onListening?.(listening.port);
    const certificate = createServingCertificate({
      client,
      subject: () => subject,
      store,
      onIdentity: (approved) => {
        api.useIdentity(approved);
        const known = certificateOf(approved);
        lifetime = known && lifetimeOf(known);
      },
      clock,
      random,
      log,
    });
    const moved = whileThere(place, Number.POSITIVE_INFINITY, over).finally(() => stop.abort());
    try {
      await Promise.all([certificate.run(over), moved]);
      await serving;
    } finally {
      bound = undefined;
      lifetime = undefined;
    }
  };

  let saidWhatIsMissing = false;
  const placeNow = (): Place | undefined => {
    const [host, ca] = [address(), clientCA()];
    if (host !== undefined && ca !== undefined) return { host, ca };
    if (host !== undefined && !saidWhatIsMissing) {
      saidWhatIsMissing = true;
      log.warn('The kubelet API is not served: the kubeconfig names no certificate authority of the cluster');
    }
    return undefined;
  };

  return {
    port: () => bound,
    lifetime: () => lifetime,
    run: async (signal) => {
      while (!signal.aborted) {
        const place = placeNow();
        if (place === undefined) {
          await sleep(clock, soonMs, signal);
          continue;
        }
        try {
          await serveAt(place, signal);
        } catch (error) {
          if (signal.aborted) return;
          backOff.fail();
          const facts = { host: place.host, port, nextTryMs: Math.round(backOff.retryAt - clock.now()), error };
          log.warn('The kubelet API is not served: kubectl logs, exec and the like fail until it is', facts);
          await whileThere(place, backOff.retryAt, signal);
        }
      }
    },
  };
};
