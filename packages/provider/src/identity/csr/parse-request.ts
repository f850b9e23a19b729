import { nodesGroup, nodeUser } from '../names.ts';

/** A DER value: its tag and its content. */
interface Element {
  readonly tag: number;
  readonly body: Uint8Array;
}

/** Not DER, or not the expected value. */
class DerError extends Error {}

const tags = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8: 0x0c,
  printable: 0x13,
  sequence: 0x30,
  set: 0x31,
  context0: 0xa0,
} as const;

/**
 * The consecutive values in `bytes`, to the last byte. At least as strict as Go's parser, so that the signer can never read a request
 * differently: short tags, definite lengths in their shortest form, nothing left over.
 */
const elementsIn = (bytes: Uint8Array): Element[] => {
  const elements: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0;
    if ((tag & 0x1f) === 0x1f) throw new DerError('a tag of more than one byte');
    const { length, start } = lengthAt(bytes, at + 1);
    if (start + length > bytes.length) throw new DerError('a value that is longer than what holds it');
    elements.push({ tag, body: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return elements;
};

const lengthAt = (bytes: Uint8Array, at: number): { length: number; start: number } => {
  const first = bytes[at];
  if (first === undefined) throw new DerError('a value without a length');
  if (first < 0x80) return { length: first, start: at + 1 };
  const digits = first & 0x7f;
  if (digits === 0 || digits > 3) throw new DerError('a length that is indefinite or too large');
  const start = at + 1 + digits;
  if (start > bytes.length) throw new DerError('a length that is cut off');
  const length = bytes.subarray(at + 1, start).reduce((sum, digit) => sum * 256 + digit, 0);
  if (length < 0x80 || length < 256 ** (digits - 1)) throw new DerError('a length that is not in its shortest form');
  return { length, start };
};

/** The content of a value that must have this tag. */
const bodyOf = (element: Element | undefined, tag: number, what: string): Uint8Array => {
  if (element?.tag !== tag) throw new DerError(`no ${what} where it should be`);
  return element.body;
};

/** One part of a subject: `{ type: 'CN', text: 'system:node:mac-1' }`. Unknown types are their OID in hexadecimal. */
interface SubjectPart {
  readonly type: string;
  readonly text: string;
}

/** What a PKCS#10 request asks for. */
export interface RequestedCertificate {
  readonly subject: readonly SubjectPart[];
  /** What it asks for besides a subject and a key, in DER, such as alternative names or extensions. Empty in a client's request. */
  readonly attributes: Uint8Array;
  readonly keyIsRSA: boolean;
}

export type ParsedRequest =
  | { readonly ok: true; readonly requested: RequestedCertificate }
  | { readonly ok: false; readonly problem: string };

/** Exactly one block: parsers differ in which of two they use. */
const pemPattern =
  /^-----BEGIN CERTIFICATE REQUEST-----\r?\n([A-Za-z0-9+/=\r\n]+)\n-----END CERTIFICATE REQUEST-----[\r\n]*$/;

/**
 * Limit of the base64. An agent's request has about 600 characters, one with an RSA key of 8192 bits about 4,000. A megabyte could hold
 * half a million values, each of which takes memory.
 */
const maxLength = 32 * 1024;

const partTypes: Readonly<Record<string, string>> = { '550403': 'CN', '55040a': 'O' };
const rsaEncryption = '2a864886f70d010101';

/**
 * Parses `spec.request`. Does not check the signature: the API server rejects a request without a valid one. Does not check the key either.
 * Problems never quote the request.
 */
export const parseRequest = (base64: string): ParsedRequest => {
  try {
    return { ok: true, requested: parseDer(decodePem(base64)) };
  } catch (error) {
    return problemOf(error);
  }
};

const problemOf = (error: unknown): { readonly ok: false; readonly problem: string } => {
  if (error instanceof DerError) return { ok: false, problem: error.message };
  throw error;
};

const decodePem = (base64: string): Uint8Array => {
  if (base64.length > maxLength) throw new DerError('larger than any request of a Node');
  const content = pemPattern.exec(Buffer.from(base64, 'base64').toString('latin1'))?.[1]?.replaceAll(/[\r\n]/g, '');
  const der = Buffer.from(content ?? '', 'base64');
  if (content === undefined || der.toString('base64') !== content) throw new DerError('not one block of PEM');
  return der;
};

const parseDer = (der: Uint8Array): RequestedCertificate => {
  const [request] = expectCount(1, der);
  const [info, algorithm, signature] = expectCount(3, bodyOf(request, tags.sequence, 'request'));
  const [version, subject, key, attributes] = expectCount(4, bodyOf(info, tags.sequence, 'content'));
  if (hexOf(bodyOf(version, tags.integer, 'version')) !== '00') throw new DerError('an unknown version');
  const [keyAlgorithm, keyBits] = expectCount(2, bodyOf(key, tags.sequence, 'public key'));
  algorithmOf(algorithm);
  for (const bits of [keyBits, signature]) checkBits(bits);
  return {
    subject: elementsIn(bodyOf(subject, tags.sequence, 'subject')).flatMap(partsOf),
    attributes: bodyOf(attributes, tags.context0, 'attributes'),
    keyIsRSA: algorithmOf(keyAlgorithm) === rsaEncryption,
  };
};

const expectCount = (count: number, bytes: Uint8Array): Element[] => {
  const elements = elementsIn(bytes);
  if (elements.length !== count) throw new DerError(`${elements.length} values instead of ${count}`);
  return elements;
};

/** A part may hold several attributes: Go writes two organisations in this way. */
const partsOf = (part: Element): SubjectPart[] =>
  elementsIn(bodyOf(part, tags.set, 'part of the subject')).map((attribute) => {
    const [type, value] = expectCount(2, bodyOf(attribute, tags.sequence, 'attribute of the subject'));
    const oid = oidOf(type);
    return { type: partTypes[oid] ?? oid, text: textOf(value) };
  });

const textOf = (value: Element | undefined): string => {
  if (value?.tag === tags.printable) return printableText(value.body);
  const body = bodyOf(value, tags.utf8, 'usual text');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw new DerError('text that is not UTF-8');
  }
};

/** The characters of a PrintableString, and two more that Go allows. */
const printableText = (body: Uint8Array): string => {
  const text = Buffer.from(body).toString('latin1');
  if (!/^[A-Za-z0-9 '()+,./:=?*&-]*$/.test(text)) throw new DerError('printable text with other characters');
  return text;
};

/** The OID of an algorithm. Its parameter is missing, null, or the OID of a curve. */
const algorithmOf = (algorithm: Element | undefined): string => {
  const [oid, parameter, ...rest] = elementsIn(bodyOf(algorithm, tags.sequence, 'algorithm'));
  if (rest.length > 0) throw new DerError('more than an algorithm holds');
  const isNull = parameter?.tag === tags.null && parameter.body.length === 0;
  if (parameter !== undefined && !isNull) oidOf(parameter);
  return oidOf(oid);
};

/** Keys and signatures are whole bytes: the last byte has no unused bits. */
const checkBits = (element: Element | undefined): void => {
  if (bodyOf(element, tags.bitString, 'bits')[0] !== 0) throw new DerError('bits that are no whole bytes');
};

/** In hexadecimal. Rejects padded forms, which another parser could read as another OID. */
const oidOf = (element: Element | undefined): string => {
  const body = bodyOf(element, tags.oid, 'OID');
  const padded = body.some((byte, at) => byte === 0x80 && (body[at - 1] ?? 0) < 0x80);
  if (padded || (body.at(-1) ?? 0x80) >= 0x80) throw new DerError('an OID that is cut off or not in its shortest form');
  return hexOf(body);
};

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The subject of that Node: one organisation and one common name, in any order, and nothing else. */
export const hasNodeSubject = ({ subject }: RequestedCertificate, nodeName: string): boolean =>
  subject.length === 2 &&
  subject.some(({ type, text }) => type === 'O' && text === nodesGroup) &&
  subject.some(({ type, text }) => type === 'CN' && text === nodeUser(nodeName));

/** The subject alternative names. */
interface AlternativeNames {
  /** In Kubernetes' form: `192.0.2.7`, `2001:db8::7`. */
  readonly addresses: readonly string[];
  readonly dnsNames: readonly string[];
  /** Number of names of other kinds: mail, URI, directory. */
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
 * Parses the attributes of a request that must ask for alternative names only: one attribute with one value with one non-critical
 * extension, as Go and our agent write it. Anything looser would be ambiguous.
 */
export const parseAlternativeNames = (attributes: Uint8Array): ParsedNames => {
  try {
    return { ok: true, names: namesIn(attributes) };
  } catch (error) {
    return problemOf(error);
  }
};

const namesIn = (attributes: Uint8Array): AlternativeNames => {
  const found: { addresses: string[]; dnsNames: string[]; others: number } = { addresses: [], dnsNames: [], others: 0 };
  for (const { tag, body } of elementsIn(namesExtension(attributes))) {
    if (tag === dnsName) found.dnsNames.push(asciiOf(body));
    else if (tag === ipAddress) found.addresses.push(addressOf(body));
    else found.others += 1;
  }
  return found;
};

const namesExtension = (attributes: Uint8Array): Uint8Array => {
  const [attribute] = expectCount(1, attributes);
  const values = expectOID(bodyOf(attribute, tags.sequence, 'attribute'), extensionRequest, tags.set);
  const [extensions] = expectCount(1, values);
  const [extension] = expectCount(1, bodyOf(extensions, tags.sequence, 'list of extensions'));
  const value = expectOID(bodyOf(extension, tags.sequence, 'extension'), subjectAltName, tags.octetString);
  const [names] = expectCount(1, value);
  return bodyOf(names, tags.sequence, 'list of names');
};

/** The value of a pair of OID and value, which must have that OID and tag. */
const expectOID = (pair: Uint8Array, oid: string, tag: number): Uint8Array => {
  const [type, value] = expectCount(2, pair);
  if (oidOf(type) !== oid) throw new DerError('something else than alternative names');
  return bodyOf(value, tag, 'value of an extension');
};

const asciiOf = (bytes: Uint8Array): string => {
  if (bytes.some((byte) => byte >= 0x80)) throw new DerError('a DNS name that is not ASCII');
  return Buffer.from(bytes).toString('latin1');
};

const addressOf = (bytes: Uint8Array): string => {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) throw new DerError('an address that is none');
  const groups = hexOf(bytes).match(/.{4}/g) ?? [];
  return canonicalAddress(groups.join(':'));
};

/** The canonical form of an address: `::` for the longest run of zeros, lower case. Returns other text unchanged. */
export const canonicalAddress = (address: string): string => {
  if (!address.includes(':')) return address;
  try {
    return new URL(`http://[${address}]/`).hostname.slice(1, -1);
  } catch {
    return address;
  }
};
