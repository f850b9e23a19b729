import type { PeerCertificate } from 'node:tls';
import type { User } from './reviews.ts';

type Subject = { readonly CN?: unknown; readonly O?: unknown };

const texts = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string');

/**
 * Whom a client certificate names: common name and organisations, as Kubernetes reads it. Only for one whose chain has been checked.
 * undefined for one that is over by now: the handshake may have been long ago.
 */
export const certificateUser = (
  certificate: Pick<PeerCertificate, 'valid_from' | 'valid_to'> & { subject?: Subject },
  now: number,
): User | undefined => {
  const names = texts(certificate.subject?.CN);
  const [name] = names;
  const isCurrent = Date.parse(certificate.valid_from) <= now && now <= Date.parse(certificate.valid_to);
  // Two common names: readers differ in which one counts.
  if (!isCurrent || names.length !== 1 || name === undefined || name === '') return undefined;
  return { name, groups: [...texts(certificate.subject?.O), 'system:authenticated'] };
};
