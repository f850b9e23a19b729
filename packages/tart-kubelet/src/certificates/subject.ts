import { isIPv4, isIPv6 } from 'node:net';
import { choice, objectID, octets, sequence, set, utf8 } from './der.ts';

/** Whom a certificate of ours is about. One for clients has neither addresses nor names. */
export interface CertificateSubject {
  readonly nodeName: string;
  /** IP addresses by which the API server reaches this node. */
  readonly addresses?: readonly string[];
  readonly dnsNames?: readonly string[];
}

const organization = objectID('55040a');
const commonName = objectID('550403');
const subjectAlternativeName = objectID('551d11');

/** `O=system:nodes`, `CN=system:node:<name>` and nothing else, as the provider approves no other. */
export const nameOf = ({ nodeName }: CertificateSubject): Buffer =>
  sequence(
    set(sequence(organization, utf8('system:nodes'))),
    set(sequence(commonName, utf8(`system:node:${nodeName}`))),
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

/** The extension that holds addresses and names; `undefined` when there are none. */
export const alternativeNames = ({ addresses = [], dnsNames = [] }: CertificateSubject): Buffer | undefined => {
  const names = [
    ...dnsNames.map((name) => choice(2, Buffer.from(name))),
    ...addresses.map((address) => choice(7, bytesOfAddress(address))),
  ];
  return names.length === 0 ? undefined : sequence(subjectAlternativeName, octets(sequence(...names)));
};
