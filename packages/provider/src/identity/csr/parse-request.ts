import { nodesGroup, nodeUser } from '../names.ts';
import { bodyOf, DerError, type Element, elementsIn, tags } from './der.ts';

/** One part of a subject: `{ type: 'CN', text: 'system:node:mac-1' }`. Types that we do not name are their OID in hexadecimal. */
interface SubjectPart {
  readonly type: string;
  readonly text: string;
}

/** What a PKCS#10 request asks to be certified. */
export interface RequestedCertificate {
  readonly subject: readonly SubjectPart[];
  /** What it asks for besides a subject and a key, in DER: alternative names, extensions, whatever. Empty in a client's request. */
  readonly attributes: Uint8Array;
  readonly keyIsRSA: boolean;
}

export type ParsedRequest =
  | { readonly ok: true; readonly requested: RequestedCertificate }
  | { readonly ok: false; readonly problem: string };

/** Exactly one block and nothing else: where there are two, readers differ in which one counts. */
const pemPattern =
  /^-----BEGIN CERTIFICATE REQUEST-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END CERTIFICATE REQUEST-----[\r\n]*$/;

const partTypes: Readonly<Record<string, string>> = { '550403': 'CN', '55040a': 'O' };
const rsaEncryption = '2a864886f70d010101';

/**
 * Reads `spec.request`. That its maker holds the key is not checked here: the API server does not store a request without a valid
 * signature. Problems never quote the request.
 */
export const parseRequest = (base64: string): ParsedRequest => {
  try {
    return { ok: true, requested: parseDer(decodePem(base64)) };
  } catch (error) {
    if (error instanceof DerError) return { ok: false, problem: error.message };
    throw error;
  }
};

const decodePem = (base64: string): Uint8Array => {
  const content = pemPattern.exec(Buffer.from(base64, 'base64').toString('latin1'))?.[1]?.replaceAll(/[\r\n]/g, '');
  const der = Buffer.from(content ?? '', 'base64');
  if (content === undefined || der.toString('base64') !== content) throw new DerError('not one block of PEM');
  return der;
};

const parseDer = (der: Uint8Array): RequestedCertificate => {
  const [info] = expectCount(3, expectOne(elementsIn(der), 'request'));
  const [version, subject, key, attributes, ...rest] = elementsIn(bodyOf(info, tags.sequence, 'content'));
  if (hexOf(bodyOf(version, tags.integer, 'version')) !== '00') throw new DerError('an unknown version');
  if (rest.length > 0) throw new DerError('more than a request holds');
  return {
    subject: elementsIn(bodyOf(subject, tags.sequence, 'subject')).flatMap(partsOf),
    attributes: attributes === undefined ? new Uint8Array() : bodyOf(attributes, tags.context0, 'attributes'),
    keyIsRSA: algorithmOf(bodyOf(key, tags.sequence, 'public key')) === rsaEncryption,
  };
};

const expectOne = (elements: Element[], what: string): Uint8Array =>
  bodyOf(expectCount(1, elements)[0], tags.sequence, what);

const expectCount = (count: number, elements: Element[] | Uint8Array): Element[] => {
  const list = elements instanceof Uint8Array ? elementsIn(elements) : elements;
  if (list.length !== count) throw new DerError(`${list.length} values instead of ${count}`);
  return list;
};

/** A part of a name may hold several attributes at once: Go writes two organisations so. */
const partsOf = (part: Element): SubjectPart[] =>
  elementsIn(bodyOf(part, tags.set, 'part of the subject')).map((attribute) => {
    const [type, value] = expectCount(2, bodyOf(attribute, tags.sequence, 'attribute of the subject'));
    const oid = hexOf(bodyOf(type, tags.oid, 'type of an attribute'));
    return { type: partTypes[oid] ?? oid, text: textOf(value) };
  });

const textOf = (value: Element | undefined): string => {
  if (value?.tag !== tags.utf8 && value?.tag !== tags.printable) throw new DerError('text of an unusual kind');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value.body);
  } catch {
    throw new DerError('text that is not UTF-8');
  }
};

const algorithmOf = (key: Uint8Array): string => {
  const [algorithm, bits] = expectCount(2, key);
  bodyOf(bits, tags.bitString, 'bits of the public key');
  const [oid] = elementsIn(bodyOf(algorithm, tags.sequence, 'algorithm of the public key'));
  return hexOf(bodyOf(oid, tags.oid, 'name of the algorithm'));
};

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The subject of that Node: one organisation, one common name, in any order, and nothing besides. */
export const hasNodeSubject = ({ subject }: RequestedCertificate, nodeName: string): boolean =>
  subject.length === 2 &&
  subject.some(({ type, text }) => type === 'O' && text === nodesGroup) &&
  subject.some(({ type, text }) => type === 'CN' && text === nodeUser(nodeName));

/** By what else than its subject a certificate is to be known. */
export interface AlternativeNames {
  /** As Kubernetes writes them: `192.0.2.7`, `2001:db8::7`. */
  readonly addresses: readonly string[];
  readonly dnsNames: readonly string[];
  /** Names of any other kind: mail, URI, directory. */
  readonly others: number;
}

export type ParsedNames =
  | { readonly ok: true; readonly names: AlternativeNames }
  | { readonly ok: false; readonly problem: string };

const extensionRequest = '2a864886f70d01090e';
const subjectAltName = '551d11';
const dnsName = 0x82;
const ipAddress = 0x87;

/**
 * Reads the attributes of a request that must ask for alternative names and for nothing else: one attribute, in it one value, in it one
 * extension that is not critical. That is what Go and our agent write. Everything looser could be read in two ways.
 */
export const parseAlternativeNames = (attributes: Uint8Array): ParsedNames => {
  try {
    return { ok: true, names: namesIn(attributes) };
  } catch (error) {
    if (error instanceof DerError) return { ok: false, problem: error.message };
    throw error;
  }
};

const namesIn = (attributes: Uint8Array): AlternativeNames => {
  const found: { addresses: string[]; dnsNames: string[]; others: number } = { addresses: [], dnsNames: [], others: 0 };
  for (const { tag, body } of elementsIn(namesExtension(attributes))) {
    if (tag === dnsName) found.dnsNames.push(Buffer.from(body).toString('latin1'));
    else if (tag === ipAddress) found.addresses.push(addressOf(body));
    else found.others += 1;
  }
  return found;
};

const namesExtension = (attributes: Uint8Array): Uint8Array => {
  const [attribute] = expectElements(1, elementsIn(attributes));
  const values = expectOID(bodyOf(attribute, tags.sequence, 'attribute'), extensionRequest, tags.set);
  const [extensions] = expectElements(1, elementsIn(values));
  const [extension] = expectElements(1, elementsIn(bodyOf(extensions, tags.sequence, 'list of extensions')));
  const value = expectOID(bodyOf(extension, tags.sequence, 'extension'), subjectAltName, tags.octetString);
  const [names] = expectElements(1, elementsIn(value));
  return bodyOf(names, tags.sequence, 'list of names');
};

/** The content of a pair of OID and value: that OID, and a value of that kind. */
const expectOID = (pair: Uint8Array, oid: string, tag: number): Uint8Array => {
  const [type, value] = expectElements(2, elementsIn(pair));
  if (Buffer.from(bodyOf(type, tags.oid, 'name of an extension')).toString('hex') !== oid)
    throw new DerError('something else than alternative names');
  return bodyOf(value, tag, 'value of an extension');
};

const expectElements = (count: number, elements: readonly Element[]): readonly Element[] => {
  if (elements.length !== count) throw new DerError(`${elements.length} values instead of ${count}`);
  return elements;
};

const addressOf = (bytes: Uint8Array): string => {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) throw new DerError('an address that is none');
  const groups = Buffer.from(bytes).toString('hex').match(/.{4}/g) ?? [];
  return canonicalAddress(groups.join(':'));
};

/** One spelling for each address: `::` for the longest run of zeros, small letters. What is no address stays as it is. */
export const canonicalAddress = (address: string): string => {
  if (!address.includes(':')) return address;
  try {
    return new URL(`http://[${address}]/`).hostname.slice(1, -1);
  } catch {
    return address;
  }
};
