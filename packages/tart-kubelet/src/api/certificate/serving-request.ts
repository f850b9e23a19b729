import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import type { ServingIdentity } from '../server.ts';
import { bitString, der, integer, octetString, oid, pem, sequence, set, time, utf8 } from './der.ts';

/** What a serving certificate is to say. */
export interface ServingSubject {
  readonly nodeName: string;
  /** IP addresses by which the API server reaches this node. */
  readonly addresses: readonly string[];
  readonly dnsNames?: readonly string[];
}

/** A request in PEM, and the key that only we have. */
interface MadeRequest {
  readonly request: string;
  readonly key: string;
}

/** How a request is made; another part may bring its own. */
export type MakeRequest = (subject: ServingSubject) => MadeRequest;

const ids = {
  commonName: '550403',
  organization: '55040a',
  alternativeNames: '551d11',
  keyUsage: '551d0f',
  extendedKeyUsage: '551d25',
  serverAuth: '2b06010505070301',
  extensionRequest: '2a864886f70d01090e',
  ecdsaWithSha256: '2a8648ce3d040302',
};

const algorithm = sequence(oid(ids.ecdsaWithSha256));

const nameOf = (nodeName: string): Buffer =>
  sequence(
    set(sequence(oid(ids.organization), utf8('system:nodes'))),
    set(sequence(oid(ids.commonName), utf8(`system:node:${nodeName}`))),
  );

/** `::` stands for as many zeros as are missing. */
const bytesOfIPv6 = (address: string): Buffer => {
  const { hostname } = new URL(`http://[${address}]/`);
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const groups = (text = ''): string[] => text.split(':').filter((group) => group !== '');
  const missing = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array.from({ length: missing }, () => '0'), ...groups(tail)];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
};

const bytesOfAddress = (address: string): Buffer => {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  if (isIPv6(address)) return bytesOfIPv6(address);
  throw new Error(`${JSON.stringify(address)} is no IP address: a serving certificate cannot hold it`);
};

const alternativeNames = ({ addresses, dnsNames = [] }: ServingSubject): Buffer =>
  sequence(
    oid(ids.alternativeNames),
    octetString(
      sequence(
        ...dnsNames.map((name) => der(0x82, Buffer.from(name))),
        ...addresses.map((address) => der(0x87, bytesOfAddress(address))),
      ),
    ),
  );

const signed = (content: Buffer, key: KeyObject): Buffer =>
  sequence(content, algorithm, bitString(sign('sha256', content, key)));

const makeKeys = (): { publicKey: Buffer; privateKey: KeyObject; key: string } => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    publicKey: publicKey.export({ format: 'der', type: 'spki' }),
    privateKey,
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }),
  };
};

/** PKCS#10, as the signer `kubernetes.io/kubelet-serving` wants it: the node's name as subject, its addresses as alternative names. */
export const makeServingRequest: MakeRequest = (subject) => {
  const { publicKey, privateKey, key } = makeKeys();
  const extensions = sequence(oid(ids.extensionRequest), set(sequence(alternativeNames(subject))));
  const content = sequence(Buffer.from('020100', 'hex'), nameOf(subject.nodeName), publicKey, der(0xa0, extensions));
  return { request: pem('CERTIFICATE REQUEST', signed(content, privateKey)), key };
};

/**
 * One that vouches for itself, until somebody else does: an API server without `--kubelet-certificate-authority` is content with it, and
 * people can read logs while a request waits for its approval.
 */
export const makeSelfSigned = (subject: ServingSubject, now: number): ServingIdentity => {
  const { publicKey, privateKey, key } = makeKeys();
  const name = nameOf(subject.nodeName);
  const hour = 3_600_000;
  const usages = sequence(oid(ids.keyUsage), Buffer.from('0101ff', 'hex'), octetString(Buffer.from('03020780', 'hex')));
  const purposes = sequence(oid(ids.extendedKeyUsage), octetString(sequence(oid(ids.serverAuth))));
  const content = sequence(
    der(0xa0, Buffer.from('020102', 'hex')),
    integer(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    algorithm,
    name,
    sequence(time(now - hour), time(now + 365 * 24 * hour)),
    name,
    publicKey,
    der(0xa3, sequence(usages, purposes, alternativeNames(subject))),
  );
  return { certificate: pem('CERTIFICATE', signed(content, privateKey)), key };
};
