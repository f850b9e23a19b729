import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** Creates valid and invalid certificate requests. Writes DER independently of our parser. */

export const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const digits = body.length < 0x100 ? 1 : body.length < 0x10000 ? 2 : 3;
  const length = Buffer.alloc(1 + digits, 0x80 | digits);
  length.writeUIntBE(body.length, 1, digits);
  return Buffer.concat([Buffer.from([tag]), length, body]);
};

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

const oids: Readonly<Record<string, string>> = { CN: '550403', O: '55040a', OU: '55040b', L: '550407' };
const signatureAlgorithms: Readonly<Record<string, Buffer>> = {
  ec: der(0x30, der(0x06, hex('2a8648ce3d040302'))),
  rsa: der(0x30, der(0x06, hex('2a864886f70d01010b')), der(0x05)),
  ed25519: der(0x30, der(0x06, hex('2b6570'))),
};

type Part = readonly [type: string, text: string | Uint8Array];

export interface WantedRequest {
  /** Each entry is one part of the name; an entry with several attributes is one part that holds them all. */
  subject?: readonly (readonly Part[])[];
  /** Whole attributes, in DER. */
  attributes?: readonly Uint8Array[];
  keys?: { publicKey: KeyObject; privateKey: KeyObject };
  textTag?: number;
}

export const subjectOf = (nodeName: string): readonly (readonly Part[])[] => [
  [['O', 'system:nodes']],
  [['CN', `system:node:${nodeName}`]],
];

const extensionAttribute = (attribute: string, extension: string, value: Uint8Array): Buffer =>
  der(0x30, der(0x06, hex(attribute)), der(0x31, der(0x30, der(0x30, der(0x06, hex(extension)), der(0x04, value)))));

const dnsNames = (name: string): Buffer => der(0x30, der(0x82, Buffer.from(name)));

/** The standard attribute for extensions, and Microsoft's: parsers differ in which they use. */
export const alternativeName = (name: string): Buffer =>
  extensionAttribute('2a864886f70d01090e', '551d11', dnsNames(name));
export const microsoftAlternativeName = (name: string): Buffer =>
  extensionAttribute('2b06010401823702010e', '551d11', dnsNames(name));
export const keyUsageExtension = (): Buffer =>
  extensionAttribute('2a864886f70d01090e', '551d0f', der(0x03, hex('0780')));

/** One general name in DER: `ip` takes bytes, all others text. */
export const generalName = {
  ip: (...bytes: readonly number[]): Buffer => der(0x87, Buffer.from(bytes)),
  dns: (text: string): Buffer => der(0x82, Buffer.from(text)),
  mail: (text: string): Buffer => der(0x81, Buffer.from(text)),
  uri: (text: string): Buffer => der(0x86, Buffer.from(text)),
};

/** The attribute of a serving request, with any names. */
export const alternativeNames = (...names: readonly Uint8Array[]): Buffer =>
  extensionAttribute('2a864886f70d01090e', '551d11', der(0x30, ...names));

const ecKeys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** The part that the requester signs, in DER. */
export const makeContent = ({ subject, attributes = [], keys = ecKeys, textTag = 0x13 }: WantedRequest): Buffer => {
  const name = der(
    0x30,
    ...(subject ?? subjectOf('mac-1')).map((parts) =>
      der(
        0x31,
        ...parts.map(([type, text]) =>
          der(
            0x30,
            der(0x06, hex(oids[type] ?? type)),
            der(textTag, typeof text === 'string' ? Buffer.from(text) : text),
          ),
        ),
      ),
    ),
  );
  const key = keys.publicKey.export({ format: 'der', type: 'spki' });
  return der(0x30, hex('020100'), name, key, der(0xa0, ...attributes));
};

/** The whole request, with a valid signature for any content. */
export const signContent = (content: Uint8Array, privateKey: KeyObject): Buffer => {
  const type = privateKey.asymmetricKeyType ?? '';
  const signature = sign(type === 'ed25519' ? null : 'sha256', content, privateKey);
  return der(0x30, content, signatureAlgorithms[type] ?? Buffer.of(), der(0x03, Buffer.of(0), signature));
};

/** Signed, in DER. */
export const makeDer = (wanted: WantedRequest): Buffer =>
  signContent(makeContent(wanted), (wanted.keys ?? ecKeys).privateKey);

export const pemOf = (bytes: Buffer): string =>
  `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE REQUEST-----\n`;

/** In the form of `spec.request`. */
export const makeCSR = (wanted: WantedRequest = {}): string => Buffer.from(pemOf(makeDer(wanted))).toString('base64');
