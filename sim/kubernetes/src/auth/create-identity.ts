import { createHash, type webcrypto } from 'node:crypto';
import './reflect-metadata.ts';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  type Extension,
  type JsonName,
  KeyUsageFlags,
  KeyUsagesExtension,
  type Name,
  PemConverter,
  type PublicKeyType,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { Clock } from '@tartan/kube/clock';
import { type CertificateSubject, parseCertificateRequest } from './certificate-request.ts';
import type { CertificateRequest, CreateIdentity, KeyPair } from './identity.ts';
import { createTokens } from './tokens.ts';
import { usageExtensions } from './usages.ts';

const curve = { name: 'ECDSA', namedCurve: 'P-256' };
const signingAlgorithm = { name: 'ECDSA', hash: 'SHA-256' };
const year = 365 * 24 * 3600 * 1000;
/** A client whose clock is a little behind takes a new certificate all the same. */
const backdate = 5 * 60 * 1000;
/** Five minutes are a noticeable part of anything shorter: such a certificate lives as long as was asked for, from now. */
const short = 8 * 3600 * 1000;

const generateKeys = (): Promise<webcrypto.CryptoKeyPair> => crypto.subtle.generateKey(curve, true, ['sign', 'verify']);

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

const createAuthority = async (clock: Clock): Promise<Authority> => {
  const keys = await generateKeys();
  const issuer = 'CN=kubernetes';
  const notAfter = new Date(clock.now() + 10 * year);
  // SHA-256 of the key, cut to 20 bytes: which hash it is does not matter as long as certificates repeat it.
  const spki = await crypto.subtle.exportKey('spki', keys.publicKey);
  const keyId = createHash('sha256').update(Buffer.from(spki)).digest('hex').slice(0, 40);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: issuer,
    keys,
    signingAlgorithm,
    notBefore: new Date(clock.now() - year),
    notAfter,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(
        KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment | KeyUsageFlags.keyCertSign,
        true,
      ),
      new SubjectKeyIdentifierExtension(keyId),
    ],
  });
  const certify: Authority['certify'] = async (subject, publicKey, extensions, milliseconds) => {
    const issued = await X509CertificateGenerator.create({
      subject,
      issuer,
      publicKey,
      signingKey: keys.privateKey,
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
  return { pem: `${certificate.toString('pem')}\n`, certify };
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
    const key = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
    return { certificate, key: `${PemConverter.encode(key, 'PRIVATE KEY')}\n` };
  };

export const createIdentity: CreateIdentity = async (clock) => {
  const issuer = 'https://kubernetes.default.svc';
  const [authority, tokens] = await Promise.all([createAuthority(clock), createTokens(clock, issuer)]);
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
