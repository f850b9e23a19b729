import './reflect-metadata.ts';
import { createPublicKey, verify } from 'node:crypto';
import { Pkcs10CertificateRequest, SubjectAlternativeNameExtension } from '@peculiar/x509';

interface PemBlock {
  type: string;
  bytes: Buffer;
}

/** The first block of a PEM text and the rest. Linear in the length of any text. */
export const firstPemBlock = (text: string): { block: PemBlock; rest: string } | undefined => {
  const begin = /-----BEGIN ([A-Z0-9 ]{1,64})-----/.exec(text);
  const type = begin?.[1];
  if (!begin || type === undefined) return undefined;
  const from = begin.index + begin[0].length;
  const end = `-----END ${type}-----`;
  const to = text.indexOf(end, from);
  if (to < 0) return undefined;
  return { block: { type, bytes: Buffer.from(text.slice(from, to), 'base64') }, rest: text.slice(to + end.length) };
};

/** The subject of a certificate request. */
export interface CertificateSubject {
  commonName: string;
  organizations: readonly string[];
  dnsNames: readonly string[];
  addresses: readonly string[];
  emails: readonly string[];
  uris: readonly string[];
}

export interface ParsedRequest extends CertificateSubject {
  request: Pkcs10CertificateRequest;
}

/** Header and length of the DER element that starts at `at`. */
const element = (der: Buffer, at: number): { header: number; total: number } => {
  const first = der[at + 1] ?? 0;
  if (first < 0x80) return { header: 2, total: 2 + first };
  const digits = first & 0x7f;
  if (digits === 0 || digits > 4 || at + 2 + digits > der.length)
    throw new Error('asn1: syntax error: truncated tag or length');
  const length = der.readUIntBE(at + 2, digits);
  return { header: 2 + digits, total: 2 + digits + length };
};

const assertOneElement = (der: Buffer): void => {
  const { total } = element(der, 0);
  if (der.length < 2 || total > der.length) throw new Error('asn1: syntax error: data truncated');
  if (total < der.length) throw new Error('asn1: syntax error: trailing data');
};

/** The signed bytes: the first element inside the outer sequence. */
const signedPart = (der: Buffer): Buffer => {
  const { header } = element(der, 0);
  return der.subarray(header, header + element(der, header).total);
};

const decoded = (der: Buffer): Pkcs10CertificateRequest => {
  assertOneElement(der);
  try {
    return new Pkcs10CertificateRequest(der);
  } catch {
    throw new Error('asn1: structure error: not a certificate request');
  }
};

/** Of the library, whose own type needs browser types. */
interface SignatureAlgorithm {
  name: string;
  hash?: { name: string };
}

/** null for an algorithm with a built-in hash. */
const hashOf = ({ name, hash }: SignatureAlgorithm): string | null => {
  if (name === 'Ed25519') return null;
  if (hash && ['ECDSA', 'RSASSA-PKCS1-v1_5'].includes(name)) return hash.name.replace('-', '');
  throw new Error(`the signature algorithm ${name} is not known`);
};

/** Synchronous, because writes are validated synchronously. */
const assertSigned = (request: Pkcs10CertificateRequest, der: Buffer): void => {
  const algorithm = request.signatureAlgorithm as unknown as SignatureAlgorithm;
  const failure = algorithm.name.startsWith('RSA')
    ? 'crypto/rsa: verification error'
    : 'x509: ECDSA verification failure';
  try {
    const key = createPublicKey({ key: Buffer.from(request.publicKey.rawData), format: 'der', type: 'spki' });
    if (verify(hashOf(algorithm), signedPart(der), key, Buffer.from(request.signature))) return;
  } catch {
    throw new Error('x509: cannot verify signature: algorithm unimplemented');
  }
  throw new Error(failure);
};

const namesOf = (request: Pkcs10CertificateRequest, type: string): string[] =>
  request
    .getExtensions('2.5.29.17')
    .flatMap((extension) => (extension instanceof SubjectAlternativeNameExtension ? extension.names.items : []))
    .filter((name) => name.type === type)
    .map((name) => name.value);

/** Parses a PKCS#10 request in PEM and checks its signature, which proves possession of the key. Throws if it is invalid. */
export const parseCertificateRequest = (pem: string): ParsedRequest => {
  const block = firstPemBlock(pem)?.block;
  if (block?.type !== 'CERTIFICATE REQUEST') throw new Error('PEM block type must be CERTIFICATE REQUEST');
  const request = decoded(block.bytes);
  assertSigned(request, block.bytes);
  return {
    request,
    commonName: request.subjectName.getField('CN').at(-1) ?? '',
    organizations: request.subjectName.getField('O'),
    dnsNames: namesOf(request, 'dns'),
    addresses: namesOf(request, 'ip'),
    emails: namesOf(request, 'email'),
    uris: namesOf(request, 'url'),
  };
};
