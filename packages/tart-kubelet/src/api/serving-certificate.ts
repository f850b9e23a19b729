import { createPublicKey, X509Certificate } from 'node:crypto';
import { type Client, certificateSigningRequests, isKubeError, type Logger } from '@tartan/kube';
import { type Clock, type Random, sleep } from '@tartan/kube/clock';
import { makeServingRequest, type MakeRequest, type ServingSubject } from './certificate/serving-request.ts';
import type { ServingIdentity } from './server.ts';

export interface ServingCertificateOptions {
  client: Client;
  subject: () => ServingSubject;
  /** Where certificate and key are kept over a restart. What does not fit the subject any more is asked for again. */
  store: IdentityStore;
  /** Told of each certificate that may be served from now on. */
  onIdentity(identity: ServingIdentity): void;
  clock: Clock;
  random: Random;
  log: Logger;
  makeRequest?: MakeRequest;
}

interface IdentityStore {
  load(): Promise<ServingIdentity | undefined>;
  save(identity: ServingIdentity): Promise<void>;
}

/** Keeps the certificate by which the API server knows us. Nobody approves such requests by default: the provider must. */
export interface ServingCertificate {
  run(signal: AbortSignal): Promise<void>;
}

export const servingSigner = 'kubernetes.io/kubelet-serving';
const usages: ('digital signature' | 'server auth')[] = ['digital signature', 'server auth'];
/** Asked for anew when nobody has decided for so long. Requests that wait are swept by Kubernetes after a day. */
const patienceMs = 15 * 60_000;
const lookMs = 5_000;
const retryMs = 60_000;
/** Addresses may change: what is served is compared with what is wanted so often. */
const checkMs = 60_000;

const isFor = (certificate: X509Certificate, { addresses, dnsNames = [] }: ServingSubject): boolean =>
  addresses.every((address) => certificate.checkIP(address) !== undefined) &&
  dnsNames.every((name) => certificate.checkHost(name, { subject: 'never' }) !== undefined);

const parsed = (identity: ServingIdentity): X509Certificate | undefined => {
  try {
    const certificate = new X509Certificate(identity.certificate);
    const own = createPublicKey(identity.key).export({ format: 'der', type: 'spki' });
    return certificate.publicKey.export({ format: 'der', type: 'spki' }).equals(own) ? certificate : undefined;
  } catch {
    return undefined;
  }
};

export const createServingCertificate = (options: ServingCertificateOptions): ServingCertificate => {
  const { client, subject, store, onIdentity, clock, random, log, makeRequest = makeServingRequest } = options;

  /** The certificate, once it is issued; undefined when it was refused, or nobody decided. */
  const issued = async (name: string, signal: AbortSignal): Promise<string | undefined> => {
    const until = clock.monotonic() + patienceMs;
    while (!signal.aborted && clock.monotonic() < until) {
      const { status } = await client.get(certificateSigningRequests, { name }, { signal });
      if (status?.certificate) return Buffer.from(status.certificate, 'base64').toString();
      const refusal = status?.conditions?.find(({ type }) => type === 'Denied' || type === 'Failed');
      if (refusal) {
        log.warn('The request for a serving certificate was refused', {
          name,
          type: refusal.type,
          why: refusal.message,
        });
        return undefined;
      }
      await sleep(clock, lookMs, signal);
    }
    if (!signal.aborted)
      log.warn('Nobody approved the request for a serving certificate', { name, signer: servingSigner });
    return undefined;
  };

  const ask = async (signal: AbortSignal): Promise<ServingIdentity | undefined> => {
    const wanted = subject();
    const { request, key } = makeRequest(wanted);
    const made = await client.create(
      certificateSigningRequests,
      {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { generateName: `kubelet-serving-${wanted.nodeName}-` },
        spec: { signerName: servingSigner, usages, request: Buffer.from(request).toString('base64') },
      },
      { signal },
    );
    const certificate = await issued(made.metadata.name, signal);
    if (certificate === undefined) return undefined;
    const identity = { certificate, key };
    const found = parsed(identity);
    if (found && isFor(found, wanted)) return identity;
    log.warn('The serving certificate that was issued is not what was asked for', { name: made.metadata.name });
    return undefined;
  };

  /** When to ask again: after two thirds of its life and a bit, so that a fleet does not ask at once. */
  const renewalAt = (certificate: X509Certificate, share: number): number => {
    const from = Date.parse(certificate.validFrom);
    return from + (Date.parse(certificate.validTo) - from) * share;
  };

  /** Until it is time for another one. */
  const serve = async (identity: ServingIdentity, signal: AbortSignal): Promise<void> => {
    const certificate = parsed(identity);
    if (!certificate) return;
    const renewal = renewalAt(certificate, 0.66 + 0.1 * random());
    while (!signal.aborted && clock.now() < renewal && isFor(certificate, subject())) {
      await sleep(clock, Math.min(checkMs, renewal - clock.now()), signal);
    }
  };

  const next = async (signal: AbortSignal): Promise<void> => {
    try {
      const identity = await ask(signal);
      if (!identity) return await sleep(clock, retryMs, signal);
      await store.save(identity);
      onIdentity(identity);
      log.info('A serving certificate is in use', { until: parsed(identity)?.validTo });
      await serve(identity, signal);
    } catch (error) {
      if (signal.aborted) return;
      log.warn('A serving certificate could not be had', { error, permitted: !isKubeError(error, 'forbidden') });
      await sleep(clock, retryMs, signal);
    }
  };

  return {
    run: async (signal) => {
      const kept = await store.load().catch(() => undefined);
      const certificate = kept && parsed(kept);
      if (kept && certificate && clock.now() < Date.parse(certificate.validTo) && isFor(certificate, subject())) {
        onIdentity(kept);
        await serve(kept, signal);
      }
      while (!signal.aborted) await next(signal);
    },
  };
};
