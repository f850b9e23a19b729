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
import { createTokenSigner } from '../authentication/service-account-token.ts';
import { type CertificateSubject, parseCertificateRequest } from './certificate-request.ts';
import { usageExtensions } from './key-usages.ts';
import { generateKeys, generatePkiKeys, privateKeyPem, readSigningKey, signingAlgorithm } from './keys.ts';

export interface CertificateRequest {
  commonName: string;
  organizations: readonly string[];
  /** Subject alternative names, for serving certificates. */
  addresses?: readonly string[];
  dnsNames?: readonly string[];
  usages: readonly ('client auth' | 'server auth' | 'digital signature' | 'key encipherment')[];
  seconds: number;
}

export interface KeyPair {
  /** PEM. */
  certificate: string;
  key: string;
}

export interface ServiceAccountClaims {
  namespace: string;
  serviceAccount: { name: string; uid: string };
  pod?: { name: string; uid: string };
  /** Without a uid when the Node of a Pod does not exist. */
  node?: { name: string; uid: string };
  secret?: { name: string; uid: string };
  audiences: readonly string[];
  expirationSeconds: number;
  /** `jti`, in a verified token: the id of a credential in audit logs. */
  id?: string;
}

/** The certificate authority and the token key of one cluster. Private keys never leave it. */
export interface ClusterPki {
  /** PEM of the certificate authority, which signs server and client certificates. */
  caCertificate: string;
  /** `iss` of the tokens, and their default audience. */
  issuer: string;
  /** A new key and a certificate for it. */
  issue(request: CertificateRequest): Promise<KeyPair>;
  /** Signs a PKCS#10 request (PEM) and returns the certificate (PEM). Rejects an invalid request. */
  sign(csr: string, usages: readonly string[], seconds: number): Promise<string>;
  signToken(claims: ServiceAccountClaims): Promise<{ token: string; expirationTimestamp: string }>;
  /**
   * The claims of a token that this cluster signed, that has not expired, and that contains one of `audiences` (default: the issuer);
   * otherwise undefined.
   */
  verifyToken(token: string, audiences?: readonly string[]): Promise<ServiceAccountClaims | undefined>;
  /** Why `verifyToken` refused: the text for a TokenReview; undefined for a token of another issuer. */
  tokenError(token: string, audiences?: readonly string[]): Promise<string | undefined>;
}

/** The keys of an identity, in PEM: with the same keys, certificates and tokens of an earlier run stay valid. */
export interface PkiKeys {
  caCertificate: string;
  caKey: string;
  /** Signs service account tokens. */
  tokenKey: string;
}

type CreateClusterPki = (clock: Clock, keys?: PkiKeys) => Promise<ClusterPki>;

/** For clients whose clock is a little behind. */
const backdate = 5 * 60 * 1000;
/** Five minutes are a noticeable part of a shorter lifetime: such a certificate gets its full lifetime from now. */
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
  /** Issues a certificate for a public key. */
  certify(subject: JsonName | Name, key: PublicKeyType, extensions: Extension[], milliseconds: number): Promise<string>;
}

const openAuthority = (clock: Clock, { caCertificate, caKey }: PkiKeys): Authority => {
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

export const createClusterPki: CreateClusterPki = async (clock, keys) => {
  const issuer = 'https://kubernetes.default.svc';
  const known = keys ?? (await generatePkiKeys(clock));
  const authority = openAuthority(clock, known);
  const tokens = createTokenSigner(clock, issuer, known.tokenKey);
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
