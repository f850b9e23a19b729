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

export type Reading =
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
export const readRequest = (base64: string): Reading => {
  try {
    return { ok: true, requested: requestedIn(derOf(base64)) };
  } catch (error) {
    if (error instanceof DerError) return { ok: false, problem: error.message };
    throw error;
  }
};

const derOf = (base64: string): Uint8Array => {
  const content = pemPattern.exec(Buffer.from(base64, 'base64').toString('latin1'))?.[1]?.replaceAll(/[\r\n]/g, '');
  const der = Buffer.from(content ?? '', 'base64');
  if (content === undefined || der.toString('base64') !== content) throw new DerError('not one block of PEM');
  return der;
};

const requestedIn = (der: Uint8Array): RequestedCertificate => {
  const [info] = exactly(3, only(elementsIn(der), 'request'));
  const [version, subject, key, attributes, ...rest] = elementsIn(bodyOf(info, tags.sequence, 'content'));
  if (hexOf(bodyOf(version, tags.integer, 'version')) !== '00') throw new DerError('an unknown version');
  if (rest.length > 0) throw new DerError('more than a request holds');
  return {
    subject: elementsIn(bodyOf(subject, tags.sequence, 'subject')).flatMap(partsOf),
    attributes: attributes === undefined ? new Uint8Array() : bodyOf(attributes, tags.context0, 'attributes'),
    keyIsRSA: algorithmOf(bodyOf(key, tags.sequence, 'public key')) === rsaEncryption,
  };
};

const only = (elements: Element[], what: string): Uint8Array => bodyOf(exactly(1, elements)[0], tags.sequence, what);

const exactly = (count: number, elements: Element[] | Uint8Array): Element[] => {
  const list = elements instanceof Uint8Array ? elementsIn(elements) : elements;
  if (list.length !== count) throw new DerError(`${list.length} values instead of ${count}`);
  return list;
};

/** A part of a name may hold several attributes at once: Go writes two organisations so. */
const partsOf = (part: Element): SubjectPart[] =>
  elementsIn(bodyOf(part, tags.set, 'part of the subject')).map((attribute) => {
    const [type, value] = exactly(2, bodyOf(attribute, tags.sequence, 'attribute of the subject'));
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
  const [algorithm, bits] = exactly(2, key);
  bodyOf(bits, tags.bitString, 'bits of the public key');
  const [oid] = elementsIn(bodyOf(algorithm, tags.sequence, 'algorithm of the public key'));
  return hexOf(bodyOf(oid, tags.oid, 'name of the algorithm'));
};

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
