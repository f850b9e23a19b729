import type { Validity } from '../certificates/x509.ts';
import type { NodeCertificate } from './node-certificate.ts';

/** All that matters for who the Node is. */
export interface Snapshot {
  readonly now: number;
  readonly nodeName: string;
  readonly certificate: (Pick<NodeCertificate, 'notAfter' | 'notBefore' | 'user'> & { stored: boolean }) | undefined;
  /** The API server answered 401 to it, and nothing else since. */
  readonly refused: boolean;
  /** A kubeconfig was read, now or before: it is known where the cluster is. */
  readonly clusterKnown: boolean;
  /** Not before that: the last try failed. 0 when none has, or when there are other credentials since. */
  readonly retryAt: number;
}

export type Decision =
  /** The certificate is good. Look again then. */
  | { readonly kind: 'valid'; readonly until: number }
  /** Write it down first: the token that it came from may be gone by now. */
  | { readonly kind: 'store' }
  /** Ask for the next certificate with the present one. */
  | { readonly kind: 'renew' }
  /** Ask for one with what the kubeconfig holds. */
  | { readonly kind: 'join' }
  /** There is no certificate to work with, and none can be asked for before that. */
  | { readonly kind: 'wait'; readonly until: number };

/** A third of its life, more than two days, is left for whatever is in the way. */
export const renewalTime = ({ notBefore, notAfter }: Validity): number => notBefore + ((notAfter - notBefore) * 2) / 3;

/** How often the kubeconfig is looked at: it may bring other credentials, or another address of the cluster. */
const pollMs = 60_000;
/** While only other credentials can help. */
const joinPollMs = 5_000;

/** Whether it makes us this Node. One of another name is what a Mac has left from an earlier life. */
export const isUsable = ({ certificate, nodeName, now }: Snapshot): boolean =>
  certificate !== undefined && certificate.user === `system:node:${nodeName}` && now < certificate.notAfter;

/** Pure and total. A certificate that is good is never given up for join credentials, however new they are. */
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
