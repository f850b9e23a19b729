import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readCertificate, writeCertificate } from '../identity/certificate-file.ts';
import type { Lifetime } from '../certificates/lifetime.ts';
import type { CertificateSubject } from '../certificates/subject.ts';

/** By which the API is known to its clients, as PEM. */
export interface ServingIdentity {
  readonly certificate: string;
  readonly key: string;
}

/** Where certificate and key are kept over a restart. */
export interface IdentityStore {
  /** Whatever cannot be read as one is none. */
  load(): Promise<ServingIdentity | undefined>;
  save(identity: ServingIdentity): Promise<void>;
}

/** One file for both. */
export const identityFile = (path: string): IdentityStore => ({
  load: async () => {
    const found = await readCertificate(path);
    return found && { certificate: found.cert, key: found.key };
  },
  save: ({ certificate, key }) => writeCertificate(path, { cert: certificate, key }),
});

/** `undefined` unless it is a certificate with its own key. */
export const certificateOf = ({ certificate, key }: ServingIdentity): X509Certificate | undefined => {
  try {
    const parsed = new X509Certificate(certificate);
    return parsed.checkPrivateKey(createPrivateKey(key)) ? parsed : undefined;
  } catch {
    return undefined;
  }
};

export const lifetimeOf = (certificate: X509Certificate): Lifetime => ({
  notBefore: certificate.validFromDate.getTime(),
  notAfter: certificate.validToDate.getTime(),
});

/** Whether it speaks for everything by which we are reached. */
export const speaksFor = (
  certificate: X509Certificate,
  { addresses = [], dnsNames = [] }: CertificateSubject,
): boolean =>
  addresses.every((address) => certificate.checkIP(address) !== undefined) &&
  dnsNames.every((name) => certificate.checkHost(name, { subject: 'never' }) !== undefined);
