import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type Client, isKubeError, type Logger } from '@tartan/kube';
import { type Clock, type Random, sleep } from '@tartan/kube/clock';
import { requestCertificate } from '../certificates/signing-request.ts';
import type { CertificateSubject, Validity } from '../certificates/x509.ts';
import { readCertificate, writeCertificate } from '../identity/node-certificate.ts';

/** By which the API is known to its clients, as PEM. */
export interface ServingKeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** Where certificate and key are kept over a restart. */
interface KeyPairStore {
  /** Whatever cannot be read as one is none. */
  load(): Promise<ServingKeyPair | undefined>;
  save(identity: ServingKeyPair): Promise<void>;
}

/** One file for both. */
export const createKeyPairFile = (path: string): KeyPairStore => ({
  load: async () => {
    const found = await readCertificate(path);
    return found && { certificate: found.cert, key: found.key };
  },
  save: ({ certificate, key }) => writeCertificate(path, { cert: certificate, key }),
});

/** `undefined` unless it is a certificate with its own key. */
export const parseCertificate = ({ certificate, key }: ServingKeyPair): X509Certificate | undefined => {
  try {
    const parsed = new X509Certificate(certificate);
    return parsed.checkPrivateKey(createPrivateKey(key)) ? parsed : undefined;
  } catch {
    return undefined;
  }
};

export const validityOf = (certificate: X509Certificate): Validity => ({
  notBefore: certificate.validFromDate.getTime(),
  notAfter: certificate.validToDate.getTime(),
});

/** Whether it speaks for everything by which we are reached. */
const coversSubject = (certificate: X509Certificate, { addresses = [] }: CertificateSubject): boolean =>
  addresses.every((address) => certificate.checkIP(address) !== undefined);

export const servingSigner = 'kubernetes.io/kubelet-serving';
/** Asked for anew when nobody has decided for so long. Requests that wait are swept by Kubernetes after a day. */
const approvalTimeoutMs = 15 * 60_000;

interface RequestOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** One request. `undefined`, and a line in the log, when it was denied or nobody decided. Rejects when the server does not answer. */
const requestServingCertificate = async (
  subject: CertificateSubject,
  { client, clock, log, signal }: RequestOptions,
): Promise<ServingKeyPair | undefined> => {
  const result = await requestCertificate({
    client,
    clock,
    signal,
    subject,
    generateName: `kubelet-serving-${subject.nodeName}-`,
    signerName: servingSigner,
    usages: ['digital signature', 'server auth'],
    timeoutMs: approvalTimeoutMs,
  });
  if (result.kind === 'denied') {
    log.warn('The request for a serving certificate was denied', { signer: servingSigner, why: result.message });
    return undefined;
  }
  const { certificate, key } = result;
  const parsed = parseCertificate({ certificate, key });
  if (parsed && coversSubject(parsed, subject)) return { certificate, key };
  log.warn('The serving certificate that was issued is not what was asked for');
  return undefined;
};

interface ServingCertificateOptions {
  client: Client;
  /** By which the node is reached now. */
  subject: () => CertificateSubject;
  /** What does not fit the subject any more is asked for again. */
  store: KeyPairStore;
  /** Told of each certificate that may be served from now on. */
  onKeyPair(identity: ServingKeyPair): void;
  clock: Clock;
  random: Random;
  log: Logger;
}

/** Keeps the certificate by which the API server knows us. Nobody approves such requests by default: the provider must. */
interface ServingCertificate {
  /** Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

const retryMs = 60_000;
/** Addresses change, and the wall clock may be set: what is served is looked at so often. */
const checkMs = 60_000;

/** After two thirds of its life and a bit, so that a fleet does not ask at once. */
const renewalTime = (certificate: X509Certificate, random: Random): number => {
  const from = certificate.validFromDate.getTime();
  return from + (certificate.validToDate.getTime() - from) * (0.66 + 0.1 * random());
};

export const createServingCertificate = (options: ServingCertificateOptions): ServingCertificate => {
  const { client, subject, store, onKeyPair, clock, random, log } = options;

  /** Until it is time for another one; at once, and `false`, when it is none that could be served. */
  const serve = async (identity: ServingKeyPair, signal: AbortSignal): Promise<boolean> => {
    const certificate = parseCertificate(identity);
    if (!certificate || !coversSubject(certificate, subject()) || clock.now() >= certificate.validToDate.getTime())
      return false;
    onKeyPair(identity);
    log.info('A serving certificate is in use', { until: certificate.validToDate.toISOString() });
    // A clock that is wrong must not make us ask without end.
    const renewal = Math.max(renewalTime(certificate, random), clock.now() + retryMs);
    while (!signal.aborted && clock.now() < renewal && coversSubject(certificate, subject()))
      await sleep(clock, Math.min(checkMs, renewal - clock.now()), signal);
    return true;
  };

  const requestNext = async (signal: AbortSignal): Promise<void> => {
    const identity = await requestServingCertificate(subject(), { client, clock, log, signal });
    if (!identity) return sleep(clock, retryMs, signal);
    // Before it is used; without a disk it is used all the same.
    await store.save(identity).catch((error: unknown) => log.warn('The serving certificate cannot be kept', { error }));
    if (!(await serve(identity, signal))) await sleep(clock, retryMs, signal);
  };

  return {
    run: async (signal) => {
      const stored = await store.load().catch(() => undefined);
      if (stored) await serve(stored, signal);
      while (!signal.aborted) {
        try {
          await requestNext(signal);
        } catch (error) {
          if (signal.aborted) return;
          log.warn('A serving certificate could not be had', { error, permitted: !isKubeError(error, 'forbidden') });
          await sleep(clock, retryMs, signal);
        }
      }
    },
  };
};
