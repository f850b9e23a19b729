import './reflect-metadata.ts';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  type Extension,
  type JsonName,
  type Name,
  type PublicKeyType,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { Clock } from '@tartan/kube/clock';
import { type CertificateSubject, parseCertificateRequest } from './certificate-request.ts';
import type { CertificateRequest, CreateIdentity, IdentityKeys, KeyPair } from './identity.ts';
import {
  generateIdentityKeys,
  generateKeys,
  privateKeyPem,
  readSigningKey,
  signingAlgorithm,
} from './identity-keys.ts';
import { createTokens } from './tokens.ts';
import { usageExtensions } from './usages.ts';

/** A client whose clock is a little behind takes a new certificate all the same. */
const backdate = 5 * 60 * 1000;
/** Five minutes are a noticeable part of anything shorter: such a certificate lives as long as was asked for, from now. */
const short = 8 * 3600 * 1000;

export const validity = (
  now: number,
  milliseconds: number,
  signerEnds: number,
): { notBefore: Date; notAfter: Date } => ({
  notBefore: new Date(now - backdate),
  notAfter: new Date(Math.min(now + milliseconds - (milliseconds < short ? 0 : backdate), signerEnds)),
});

interface Authority {
  pem: string;
  /** Issues a certificate for somebody's public key. */
  certify(subject: JsonName | Name, key: PublicKeyType, extensions: Extension[], milliseconds: number): Promise<string>;
}

const openAuthority = (clock: Clock, { caCertificate, caKey }: IdentityKeys): Authority => {
  const certificate = new X509Certificate(caCertificate);
  const { notAfter, subject: issuer } = certificate;
  const keyId = certificate.getExtension(SubjectKeyIdentifierExtension)?.keyId ?? '';
  const signingKey = readSigningKey(caKey);
  const certify: Authority['certify'] = async (subject, publicKey, extensions, milliseconds) => {
    const issued = await X509CertificateGenerator.create({
      subject,
      issuer,
      publicKey,
      signingKey,
      signingAlgorithm,
      ...validity(clock.now(), milliseconds, notAfter.getTime()),
      extensions: [
        ...extensions,
        new BasicConstraintsExtension(false, undefined, true),
        new AuthorityKeyIdentifierExtension(keyId),
      ],
    });
    return `${issued.toString('pem')}\n`;
  };
  return { pem: caCertificate, certify };
};

type Names = Pick<CertificateSubject, 'dnsNames' | 'addresses'> & Partial<Pick<CertificateSubject, 'emails' | 'uris'>>;

const alternativeNames = ({ dnsNames, addresses, emails = [], uris = [] }: Names): Extension[] => {
  const names = [
    ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...addresses.map((value) => ({ type: 'ip' as const, value })),
    ...emails.map((value) => ({ type: 'email' as const, value })),
    ...uris.map((value) => ({ type: 'url' as const, value })),
  ];
  return names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names)];
};

const issueWith =
  (authority: Authority) =>
  async (request: CertificateRequest): Promise<KeyPair> => {
    const keys = await generateKeys();
    const { addresses = [], dnsNames = [], organizations } = request;
    const subject: JsonName = [
      ...(organizations.length === 0 ? [] : [{ O: [...organizations] }]),
      { CN: [request.commonName] },
    ];
    const extensions = [...usageExtensions(request.usages), ...alternativeNames({ dnsNames, addresses })];
    const certificate = await authority.certify(subject, keys.publicKey, extensions, request.seconds * 1000);
    return { certificate, key: await privateKeyPem(keys) };
  };

export const createIdentity: CreateIdentity = async (clock, keys) => {
  const issuer = 'https://kubernetes.default.svc';
  const known = keys ?? (await generateIdentityKeys(clock));
  const authority = openAuthority(clock, known);
  const tokens = createTokens(clock, issuer, known.tokenKey);
  return {
    caCertificate: authority.pem,
    issuer,
    issue: issueWith(authority),
    sign: async (csr, usages, seconds) => {
      const wanted = parseCertificateRequest(csr);
      const extensions = [...usageExtensions(usages), ...alternativeNames(wanted)];
      return authority.certify(wanted.request.subjectName, wanted.request.publicKey, extensions, seconds * 1000);
    },
    ...tokens,
  };
};
