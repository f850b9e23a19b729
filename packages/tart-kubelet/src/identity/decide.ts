import type { Validity } from '../certificates/x509.ts';
import type { NodeCertificate } from './node-certificate.ts';

/** Everything that the Node's identity depends on. */
export interface Snapshot {
  readonly now: number;
  readonly nodeName: string;
  readonly certificate: (Pick<NodeCertificate, 'notAfter' | 'notBefore' | 'user'> & { stored: boolean }) | undefined;
  /** The API server's latest response to it was a 401. */
  readonly refused: boolean;
  /** A kubeconfig was read at some time, so the cluster's address is known. */
  readonly clusterKnown: boolean;
  /** Earliest next attempt after a failure. 0 without a failure, or when the credentials have changed since. */
  readonly retryAt: number;
}

export type Decision =
  /** The certificate is valid. Check again at `until`. */
  | { readonly kind: 'valid'; readonly until: number }
  /** Persist it first: its join token may have expired by now. */
  | { readonly kind: 'store' }
  /** Request the next certificate with the current one. */
  | { readonly kind: 'renew' }
  /** Request one with the kubeconfig's credentials. */
  | { readonly kind: 'join' }
  /** There is no usable certificate, and none can be requested before `until`. */
  | { readonly kind: 'wait'; readonly until: number };

/** Leaves a third of the lifetime, more than two days, for problems. */
export const renewalTime = ({ notBefore, notAfter }: Validity): number => notBefore + ((notAfter - notBefore) * 2) / 3;

/** How often the kubeconfig is read: it may have new credentials, or another cluster address. */
const pollMs = 60_000;
/** While only new credentials can help. */
const joinPollMs = 5_000;

/** Whether it authenticates this Node. A certificate with another name is left from a previous node name. */
export const isUsable = ({ certificate, nodeName, now }: Snapshot): boolean =>
  certificate !== undefined && certificate.user === `system:node:${nodeName}` && now < certificate.notAfter;

/** Pure and total. A valid certificate is never replaced by join credentials, however new they are. */
export const decide = (snapshot: Snapshot): Decision => {
  const { now, certificate, refused, clusterKnown, retryAt } = snapshot;
  const mayTry = now >= retryAt;
  const later = (most: number): number => Math.min(mayTry ? now + most : retryAt, now + most);
  if (certificate !== undefined && isUsable(snapshot)) {
    if (!certificate.stored && mayTry) return { kind: 'store' };
    if (!refused) {
      if (!clusterKnown) return { kind: 'valid', until: now + joinPollMs };
      const due = renewalTime(certificate);
      if (now >= due && mayTry) return { kind: 'renew' };
      return { kind: 'valid', until: now < due ? Math.min(due, later(pollMs)) : later(pollMs) };
    }
  }
  return clusterKnown && mayTry ? { kind: 'join' } : { kind: 'wait', until: later(joinPollMs) };
};
