import { X509Certificate } from 'node:crypto';
import { type Client, isKubeError, type Logger } from '@tartan/kube';
import { type Clock, type Random, sleep } from '@tartan/kube/clock';
import { CertificateDenied, requestCertificate } from '../certificates/signing-request.ts';
import type { CertificateSubject, Validity } from '../certificates/x509.ts';
import { type NodeCertificate, readCertificate, writeCertificate } from '../identity/node-certificate.ts';

export const servingSigner = 'kubernetes.io/kubelet-serving';
/** After this time without a decision it sends a new request. Kubernetes deletes pending requests after a day. */
const approvalTimeoutMs = 15 * 60_000;
const retryMs = 60_000;
/** How often it checks whether the renewal is due: the wall clock may be set. */
const checkMs = 60_000;

interface ServingCertificateOptions {
  readonly client: Client;
  readonly subject: Required<CertificateSubject>;
  /** Persists the certificate across restarts. */
  readonly file: string;
  /** Called with each certificate to serve. */
  onCertificate(certificate: NodeCertificate): void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** After two thirds of the lifetime plus jitter, so that a fleet does not renew at once. */
const renewalTime = ({ notBefore, notAfter }: Validity, random: Random): number =>
  notBefore + (notAfter - notBefore) * (0.66 + 0.1 * random());

/**
 * Keeps the kubelet API's serving certificate valid until `signal` fires. Never rejects. Kubernetes does not approve such requests by
 * default: the provider does.
 */
export const keepServingCertificate = async (
  { client, subject, file, onCertificate, clock, random, log }: ServingCertificateOptions,
  signal: AbortSignal,
): Promise<void> => {
  const canServe = ({ cert, notAfter }: NodeCertificate): boolean =>
    clock.now() < notAfter && new X509Certificate(cert).checkIP(subject.address) !== undefined;

  /** Resolves when the renewal is due. */
  const serve = async (certificate: NodeCertificate): Promise<void> => {
    onCertificate(certificate);
    log.info('A serving certificate is in use', { until: new Date(certificate.notAfter).toISOString() });
    // A wrong clock must not cause endless requests.
    const renewal = Math.max(renewalTime(certificate, random), clock.now() + retryMs);
    while (!signal.aborted && clock.now() < renewal)
      await sleep(clock, Math.min(checkMs, renewal - clock.now()), signal);
  };

  const requestNext = async (): Promise<void> => {
    const certificate = await requestCertificate({
      client,
      clock,
      signal,
      subject,
      generateName: `kubelet-serving-${subject.nodeName}-`,
      signerName: servingSigner,
      usages: ['digital signature', 'server auth'],
      timeoutMs: approvalTimeoutMs,
    });
    if (!canServe(certificate)) throw new CertificateDenied('What was issued is not what was asked for.');
    // Persist before use; if that fails, use it anyway.
    await writeCertificate(file, certificate).catch((error: unknown) =>
      log.warn('The serving certificate cannot be kept', { error }),
    );
    await serve(certificate);
  };

  const stored = await readCertificate(file);
  if (stored !== undefined && canServe(stored)) await serve(stored);
  while (!signal.aborted) {
    try {
      await requestNext();
    } catch (error) {
      if (signal.aborted) return;
      log.warn('A serving certificate could not be had', { error, permitted: !isKubeError(error, 'forbidden') });
      await sleep(clock, retryMs, signal);
    }
  }
};
