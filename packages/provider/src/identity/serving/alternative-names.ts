import { bodyOf, DerError, type Element, elementsIn, tags } from '../approve/der.ts';

/** By what else than its subject a certificate is to be known. */
export interface AlternativeNames {
  /** As Kubernetes writes them: `192.0.2.7`, `2001:db8::7`. */
  readonly addresses: readonly string[];
  readonly dnsNames: readonly string[];
  /** Names of any other kind: mail, URI, directory. */
  readonly others: number;
}

export type NamesReading =
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
export const readNames = (attributes: Uint8Array): NamesReading => {
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
  const [attribute] = exactly(1, elementsIn(attributes));
  const values = named(bodyOf(attribute, tags.sequence, 'attribute'), extensionRequest, tags.set);
  const [extensions] = exactly(1, elementsIn(values));
  const [extension] = exactly(1, elementsIn(bodyOf(extensions, tags.sequence, 'list of extensions')));
  const value = named(bodyOf(extension, tags.sequence, 'extension'), subjectAltName, tags.octetString);
  const [names] = exactly(1, elementsIn(value));
  return bodyOf(names, tags.sequence, 'list of names');
};

/** The content of a pair of OID and value: that OID, and a value of that kind. */
const named = (pair: Uint8Array, oid: string, tag: number): Uint8Array => {
  const [type, value] = exactly(2, elementsIn(pair));
  if (Buffer.from(bodyOf(type, tags.oid, 'name of an extension')).toString('hex') !== oid)
    throw new DerError('something else than alternative names');
  return bodyOf(value, tag, 'value of an extension');
};

const exactly = (count: number, elements: readonly Element[]): readonly Element[] => {
  if (elements.length !== count) throw new DerError(`${elements.length} values instead of ${count}`);
  return elements;
};

const addressOf = (bytes: Uint8Array): string => {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) throw new DerError('an address that is none');
  const groups = Buffer.from(bytes).toString('hex').match(/.{4}/g) ?? [];
  return canonical(groups.join(':'));
};

/** One spelling for each address: `::` for the longest run of zeros, small letters. What is no address stays as it is. */
export const canonical = (address: string): string => {
  if (!address.includes(':')) return address;
  try {
    return new URL(`http://[${address}]/`).hostname.slice(1, -1);
  } catch {
    return address;
  }
};
