import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';
import {
  bitString,
  booleanTrue,
  explicitTag,
  implicitTag,
  integer,
  objectID,
  octetString,
  pem,
  sequence,
  set,
  time,
  utf8String,
} from './der.ts';

/** Validity period of a certificate, milliseconds since 1970. */
export interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

/** The subject of a certificate. A client certificate has no address. */
export interface CertificateSubject {
  readonly nodeName: string;
  /** IPv4 address of the Node for the API server. */
  readonly address?: string;
}

const organizationOID = objectID('55040a');
const commonNameOID = objectID('550403');
const subjectAltNameOID = objectID('551d11');

/** `O=system:nodes`, `CN=system:node:<name>` and nothing else: the provider approves no other subject. */
const distinguishedName = ({ nodeName }: CertificateSubject): Buffer =>
  sequence(
    set(sequence(organizationOID, utf8String('system:nodes'))),
    set(sequence(commonNameOID, utf8String(`system:node:${nodeName}`))),
  );

const bytesOfAddress = (address: string): Buffer => {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  throw new Error(`${JSON.stringify(address)} is no IPv4 address: a serving certificate cannot hold it`);
};

/** The subjectAltName extension, if there is an address. */
const subjectAltNames = ({ address }: CertificateSubject): readonly Buffer[] =>
  address === undefined
    ? []
    : [sequence(subjectAltNameOID, octetString(sequence(implicitTag(7, bytesOfAddress(address)))))];

/** A new key pair: the public key in DER, the private key also in PEM. It never leaves this Mac. */
const generateKeyPair = () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    publicKey: publicKey.export({ format: 'der', type: 'spki' }),
    privateKey,
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }),
  };
};

/** ECDSA with SHA-256. */
const signatureAlgorithm = sequence(objectID('2a8648ce3d040302'));

const signWith = (content: Buffer, privateKey: KeyObject): Buffer =>
  sequence(content, signatureAlgorithm, bitString(sign('sha256', content, privateKey)));

const extensionRequest = objectID('2a864886f70d01090e');
const requestVersion = integer(Buffer.of(0));

/** A new key and its certificate request (PKCS#10 in PEM) for this Node: for a client, or with an address for serving. */
export const createCertificateRequest = (subject: CertificateSubject) => {
  const { key, privateKey, publicKey } = generateKeyPair();
  // Without an address the attributes are an empty set, which the provider treats as none.
  const attributes = subjectAltNames(subject).map((names) => sequence(extensionRequest, set(sequence(names))));
  const content = sequence(requestVersion, distinguishedName(subject), publicKey, explicitTag(0, ...attributes));
  return { key, request: pem('CERTIFICATE REQUEST', signWith(content, privateKey)) };
};

const hourMs = 3_600_000;
const version3 = explicitTag(0, integer(Buffer.of(2)));
/** Digital signature: a bit string with only the first bit. */
const keyUsage = sequence(objectID('551d0f'), booleanTrue, octetString(Buffer.from('03020780', 'hex')));
const serverAuth = sequence(objectID('551d25'), octetString(sequence(objectID('2b06010505070301'))));

/**
 * A self-signed certificate until one is approved: an API server without `--kubelet-certificate-authority` accepts it, so users can read
 * logs while a request waits for its approval.
 */
export const createSelfSignedCertificate = (subject: CertificateSubject, now: number) => {
  const { key, privateKey, publicKey } = generateKeyPair();
  const name = distinguishedName(subject);
  const content = sequence(
    version3,
    integer(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    signatureAlgorithm,
    name,
    sequence(time(now - hourMs), time(now + 365 * 24 * hourMs)),
    name,
    publicKey,
    explicitTag(3, sequence(keyUsage, serverAuth, ...subjectAltNames(subject))),
  );
  return { cert: pem('CERTIFICATE', signWith(content, privateKey)), key };
};
