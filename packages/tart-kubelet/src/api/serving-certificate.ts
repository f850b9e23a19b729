import type { X509Certificate } from 'node:crypto';
import { type Client, isKubeError, type Logger } from '@tartan/kube';
import { type Clock, type Random, sleep } from '@tartan/kube/clock';
import type { CertificateSubject } from '../certificates/subject.ts';
import { askForServingCertificate } from './ask-for-serving-certificate.ts';
import { certificateOf, type IdentityStore, type ServingIdentity, speaksFor } from './serving-identity.ts';

export interface ServingCertificateOptions {
  client: Client;
  /** By which the node is reached now. */
  subject: () => CertificateSubject;
  /** What does not fit the subject any more is asked for again. */
  store: IdentityStore;
  /** Told of each certificate that may be served from now on. */
  onIdentity(identity: ServingIdentity): void;
  clock: Clock;
  random: Random;
  log: Logger;
}

/** Keeps the certificate by which the API server knows us. Nobody approves such requests by default: the provider must. */
export interface ServingCertificate {
  /** Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

const retryMs = 60_000;
/** Addresses change, and the wall clock may be set: what is served is looked at so often. */
const checkMs = 60_000;

/** After two thirds of its life and a bit, so that a fleet does not ask at once. */
const renewalOf = (certificate: X509Certificate, random: Random): number => {
  const from = certificate.validFromDate.getTime();
  return from + (certificate.validToDate.getTime() - from) * (0.66 + 0.1 * random());
};

export const createServingCertificate = (options: ServingCertificateOptions): ServingCertificate => {
  const { client, subject, store, onIdentity, clock, random, log } = options;

  /** Until it is time for another one; at once, and `false`, when it is none that could be served. */
  const serve = async (identity: ServingIdentity, signal: AbortSignal): Promise<boolean> => {
    const certificate = certificateOf(identity);
    if (!certificate || !speaksFor(certificate, subject()) || clock.now() >= certificate.validToDate.getTime())
      return false;
    onIdentity(identity);
    log.info('A serving certificate is in use', { until: certificate.validToDate.toISOString() });
    // A clock that is wrong must not make us ask without end.
    const renewal = Math.max(renewalOf(certificate, random), clock.now() + retryMs);
    while (!signal.aborted && clock.now() < renewal && speaksFor(certificate, subject()))
      await sleep(clock, Math.min(checkMs, renewal - clock.now()), signal);
    return true;
  };

  const next = async (signal: AbortSignal): Promise<void> => {
    const identity = await askForServingCertificate(subject(), { client, clock, log, signal });
    if (!identity) return sleep(clock, retryMs, signal);
    // Before it is used; without a disk it is used all the same.
    await store.save(identity).catch((error: unknown) => log.warn('The serving certificate cannot be kept', { error }));
    if (!(await serve(identity, signal))) await sleep(clock, retryMs, signal);
  };

  return {
    run: async (signal) => {
      const kept = await store.load().catch(() => undefined);
      if (kept) await serve(kept, signal);
      while (!signal.aborted) {
        try {
          await next(signal);
        } catch (error) {
          if (signal.aborted) return;
          log.warn('A serving certificate could not be had', { error, permitted: !isKubeError(error, 'forbidden') });
          await sleep(clock, retryMs, signal);
        }
      }
    },
  };
};
