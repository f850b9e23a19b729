/**
 * Compares our reader of certificate requests with an independent one, `@peculiar/asn1-csr`. That one reads BER, so it accepts more.
 * The property: what ours accepts, the other accepts as well, and reads the same. What ours rejects is denied, which is safe.
 *
 * The seed is fixed; keys and signatures are new in each run. A failure prints the request. A longer run, which also prints what
 * was accepted and rejected, and why:
 *   CSR_FUZZ_RUNS=500000 CSR_FUZZ_SEED=7 npx node --test packages/provider/src/identity/csr/parse-request.property.test.ts
 */
import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { test } from 'node:test';
import { CertificationRequest } from '@peculiar/asn1-csr';
import { AsnParser, AsnSerializer } from '@peculiar/asn1-schema';
import { type Attribute, Extensions, type GeneralName, SubjectAlternativeName } from '@peculiar/asn1-x509';
import fc from 'fast-check';
import {
  alternativeName,
  alternativeNames,
  der,
  generalName,
  keyUsageExtension,
  makeContent,
  microsoftAlternativeName,
  pemOf,
  signContent,
  subjectOf,
} from '../testing/make-csr.ts';
import { canonicalAddress, parseAlternativeNames, parseRequest } from './parse-request.ts';

const { CSR_FUZZ_RUNS: wantedRuns, CSR_FUZZ_SEED: wantedSeed } = process.env;
const numRuns = Number(wantedRuns ?? 5000);
const seed = Number(wantedSeed ?? 1);

/** One value of DER, open to changes. */
interface Value {
  readonly tag: number;
  readonly body: Buffer | readonly Value[];
  /** Replaces the shortest form of the right length. */
  readonly length?: LengthForm;
}
type LengthForm = (typeof lengthForms)[number];
const lengthForms = ['long', 'padded', 'indefinite', 'one more', 'one less', 'huge'] as const;

const lengthOf = (size: number): Buffer => der(0, Buffer.alloc(size)).subarray(1, -size || undefined);

const encode = (value: Value): Buffer => {
  const body = bodyOf(value);
  if (value.length === undefined) return der(value.tag, body);
  const digits = Buffer.alloc(4);
  digits.writeUInt32BE(body.length);
  const lengths: Record<LengthForm, Uint8Array> = {
    long: Buffer.from([0x83, ...digits.subarray(1)]),
    padded: Buffer.from([0x84, ...digits]),
    indefinite: Buffer.of(0x80),
    'one more': lengthOf(body.length + 1),
    'one less': lengthOf(Math.max(0, body.length - 1)),
    huge: Buffer.of(0x84, 0xff, 0xff, 0xff, 0xff),
  };
  const end = Buffer.alloc(value.length === 'indefinite' ? 2 : 0);
  return Buffer.concat([Buffer.of(value.tag), lengths[value.length], body, end]);
};

const bodyOf = ({ body }: Value): Buffer => (Buffer.isBuffer(body) ? body : Buffer.concat(body.map(encode)));

/** Reads valid DER. In these requests an octet string holds DER as well. */
const valuesIn = (bytes: Buffer): Value[] => {
  const values: Value[] = [];
  for (let at = 0; at < bytes.length; ) {
    const [tag = 0, first = 0] = bytes.subarray(at);
    const digits = first < 0x80 ? 0 : first & 0x7f;
    const start = at + 2 + digits;
    const end = start + (digits === 0 ? first : bytes.readUIntBE(at + 2, digits));
    const body = bytes.subarray(start, end);
    values.push({ tag, body: (tag & 0x20) > 0 || tag === 0x04 ? valuesIn(body) : body });
    at = end;
  }
  return values;
};

type Change = (value: Value) => readonly Value[];

/** Applies the change to one value. `place` is its number, counted from the root downwards. */
const changeTree = (roots: readonly Value[], place: number, change: Change): readonly Value[] => {
  const count = (values: readonly Value[]): number =>
    values.reduce((sum, { body }) => sum + 1 + (Buffer.isBuffer(body) ? 0 : count(body)), 0);
  let left = place % Math.max(1, count(roots));
  const walk = (value: Value): readonly Value[] => {
    if (left-- === 0) return change(value);
    return [Buffer.isBuffer(value.body) ? value : { ...value, body: value.body.flatMap(walk) }];
  };
  return roots.flatMap(walk);
};

const nested = (value: Value, depth: number): Value =>
  depth === 0 ? value : nested({ tag: 0x30, body: [value] }, depth - 1);

const withByte = (bytes: Buffer, at: number, byte: number): Buffer =>
  Buffer.from(bytes.map((old, index) => (index === at % bytes.length ? byte : old)));

const stringTags = [0x0c, 0x13, 0x14, 0x16, 0x1c, 0x1e];
const anyTag = fc.oneof(
  fc.constantFrom(...stringTags, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x30, 0x31, 0xa0, 0x81, 0x82, 0x86, 0x87, 0xa4),
  fc.nat(255),
);
const few = fc.uint8Array({ minLength: 1, maxLength: 4 });

const valueChange: fc.Arbitrary<Change> = fc.oneof(
  anyTag.map(
    (tag): Change =>
      (value) => [{ ...value, tag }],
  ),
  fc.constantFrom(...lengthForms).map(
    (length): Change =>
      (value) => [{ ...value, length }],
  ),
  fc.tuple(fc.nat(1000), fc.nat(255)).map(
    ([at, byte]): Change =>
      (value) => [{ ...value, body: withByte(bodyOf(value), at, byte) }],
  ),
  few.map(
    (extra): Change =>
      (value) => [{ ...value, body: Buffer.concat([bodyOf(value), extra]) }],
  ),
  fc.nat(200).map(
    (depth): Change =>
      (value) => [nested(value, depth)],
  ),
  anyTag.map(
    (tag): Change =>
      (value) => [value, { tag, body: Buffer.of() }],
  ),
  fc.constantFrom<Change>(
    (value) => [value, value],
    () => [],
    ({ tag, body }) => [{ tag, body: Buffer.isBuffer(body) ? Buffer.of() : body.toReversed() }],
  ),
);

type ByteChange = (bytes: Buffer) => Buffer;

const byteChange: fc.Arbitrary<ByteChange> = fc.oneof(
  fc.tuple(fc.nat(3000), fc.nat(255)).map(
    ([at, byte]) =>
      (bytes: Buffer) =>
        withByte(bytes, at, byte),
  ),
  fc.nat(3000).map((at) => (bytes: Buffer) => bytes.subarray(0, at % (bytes.length + 1))),
  few.map((extra) => (bytes: Buffer) => Buffer.concat([bytes, extra])),
  fc.tuple(fc.nat(3000), fc.nat(40)).map(([at, size]) => (bytes: Buffer) => {
    const start = at % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, start + size), bytes.subarray(start)]);
  }),
);

const often = <T>(arbitrary: fc.Arbitrary<T>) => ({ weight: 4, arbitrary });

const text = fc.oneof(
  often(fc.constantFrom('system:nodes', 'system:masters', 'system:node:mac-1', 'system:node:mac-2')),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.uint8Array({ maxLength: 6 }),
  fc.constantFrom(120, 127, 128, 250, 256, 1000, 20_000).map((size) => 'a'.repeat(size)),
);
/** The last two spell the OID of a common name with a byte too many, or cut it off. */
const partType = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('CN', 'O') },
  fc.constantFrom('OU', '2a864886f70d010901', '55048003', '550483'),
);
const subject = fc.oneof(
  often(fc.constant(subjectOf('mac-1'))),
  often(fc.array(fc.array(fc.tuple(partType, text), { maxLength: 3 }), { maxLength: 4 })),
);

const bytesOf = (size: number) => fc.uint8Array({ minLength: size, maxLength: size });
const address = fc.oneof(often(bytesOf(4)), often(bytesOf(16)), fc.uint8Array({ maxLength: 20 }));
const generalNames = fc.array(
  fc.oneof(
    often(address.map((ip) => generalName.ip(...ip))),
    often(fc.constantFrom('mac-1', 'mac-2', '*', 'a\0b', 'ä').map((dns) => generalName.dns(dns))),
    fc.constantFrom(generalName.mail('a@b'), generalName.uri('spiffe://x'), der(0xa4, der(0x30, der(0x30)))),
  ),
  { maxLength: 4 },
);
const attribute = fc.oneof(
  often(generalNames.map((names) => alternativeNames(...names))),
  fc.constantFrom(alternativeName('mac-1'), microsoftAlternativeName('mac-1'), keyUsageExtension()),
);
const attributes = fc.oneof(
  often(fc.constant([])),
  often(attribute.map((one) => [one])),
  fc.array(attribute, { minLength: 2, maxLength: 3 }),
);

const keys = {
  ec: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ed25519: generateKeyPairSync('ed25519'),
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
};
const textTag = fc.oneof(often(fc.constantFrom(0x0c, 0x13)), fc.constantFrom(...stringTags));

const fuzzedRequest = fc
  .record({
    wanted: fc.record({ subject, attributes, textTag }),
    // RSA keys sign slowly, and the reader treats all keys alike.
    key: fc.constantFrom<(keyof typeof keys)[]>('ec', 'ec', 'ec', 'ec', 'ec', 'ed25519', 'ed25519', 'rsa'),
    changes: fc.array(fc.tuple(fc.nat(100_000), valueChange), { maxLength: 2 }),
    // The API server accepts only requests with a valid signature, as those that are signed after the change have.
    signedLast: fc.boolean(),
    byteChanges: fc.oneof(often(fc.constant<ByteChange[]>([])), fc.array(byteChange, { maxLength: 2 })),
  })
  .map(({ wanted, key, changes, signedLast, byteChanges }) => {
    const change = (bytes: Buffer): Buffer =>
      Buffer.concat(
        changes.reduce<readonly Value[]>((tree, [at, how]) => changeTree(tree, at, how), valuesIn(bytes)).map(encode),
      );
    const content = makeContent({ ...wanted, keys: keys[key] });
    const sign = (bytes: Buffer): Buffer => signContent(bytes, keys[key].privateKey);
    const changed = signedLast ? sign(change(content)) : change(sign(content));
    return byteChanges.reduce((bytes, changeBytes) => changeBytes(bytes), changed);
  });

interface Reading {
  /** Common names and organisations. Parts of another type are `other`. */
  readonly subject: readonly string[];
  readonly keyIsRSA: boolean;
  readonly addresses: readonly string[];
  readonly dnsNames: readonly string[];
}

/** Throws where the manager denies the request, whatever else it asks for. */
const readByUs = (bytes: Buffer): Reading => {
  const reading = parseRequest(Buffer.from(pemOf(bytes)).toString('base64'));
  if (!reading.ok) throw new Rejection(reading.problem);
  const { subject: parts, attributes: requested, keyIsRSA } = reading.requested;
  const subjectParts = parts.map(({ type, text: value }) =>
    ['CN', 'O'].includes(type) ? `${type}=${value}` : 'other',
  );
  if (requested.length === 0) return { subject: subjectParts, keyIsRSA, addresses: [], dnsNames: [] };
  const reply = parseAlternativeNames(requested);
  if (!reply.ok) throw new Rejection(`names: ${reply.problem}`);
  const { addresses, dnsNames, others } = reply.names;
  if (others > 0) throw new Rejection('names: other kinds');
  return { subject: subjectParts, keyIsRSA, addresses, dnsNames };
};

class Rejection extends Error {}

const typeNames: Readonly<Record<string, string>> = { '2.5.4.3': 'CN', '2.5.4.10': 'O' };

const readByOther = ({ certificationRequestInfo: info }: CertificationRequest): Reading => {
  const names = info.attributes.length === 0 ? [] : namesByOther([...info.attributes]);
  return {
    subject: [...info.subject].flatMap((part) =>
      [...part].map(({ type, value }) => (type in typeNames ? `${typeNames[type]}=${value.toString()}` : 'other')),
    ),
    keyIsRSA: info.subjectPKInfo.algorithm.algorithm === '1.2.840.113549.1.1.1',
    addresses: names.flatMap(({ iPAddress }) => (iPAddress === undefined ? [] : [canonicalAddress(iPAddress)])),
    dnsNames: names.flatMap(({ dNSName }) => dNSName ?? []),
  };
};

const namesByOther = (requested: readonly Attribute[]): GeneralName[] => {
  assert.deepEqual(
    requested.map(({ type, values }) => [type, values.length]),
    [['1.2.840.113549.1.9.14', 1]],
  );
  const extensions = [...AsnParser.parse(requested[0]?.values[0] ?? new ArrayBuffer(), Extensions)];
  assert.deepEqual(
    extensions.map(({ extnID, critical }) => [extnID, critical]),
    [['2.5.29.17', false]],
  );
  return extensions.flatMap(({ extnValue }) => [...AsnParser.parse(extnValue, SubjectAlternativeName)]);
};

const isAcceptedByOther = (bytes: Buffer): boolean => {
  try {
    readByOther(AsnParser.parse(bytes, CertificationRequest));
    return true;
  } catch {
    return false;
  }
};

const isSigned = (request: CertificationRequest): boolean => {
  try {
    const spki = Buffer.from(AsnSerializer.serialize(request.certificationRequestInfo.subjectPKInfo));
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
    const content = Buffer.from(request.certificationRequestInfoRaw ?? new ArrayBuffer());
    const hash = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
    return verify(hash, content, key, Buffer.from(request.signature));
  } catch {
    return false;
  }
};

test('whatever our parser accepts, another parser accepts and reads in the same way', (context) => {
  const counts = new Map<string, number>();
  const count = (what: string) => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const compare = (bytes: Buffer): void => {
    try {
      const ours = readByUs(bytes);
      const request = AsnParser.parse(bytes, CertificationRequest);
      assert.deepEqual(ours, readByOther(request));
      count(isSigned(request) ? 'accepted, signed' : 'accepted, not signed');
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      const by = isAcceptedByOther(bytes) ? 'us alone' : 'both';
      count(`rejected by ${by}: ${error.message.replaceAll(/\d+/g, 'n')}`);
    }
  };
  fc.assert(fc.property(fuzzedRequest, compare), { numRuns, seed });
  if (wantedRuns !== undefined)
    for (const [what, times] of [...counts].toSorted(([, a], [, b]) => b - a)) context.diagnostic(`${times} ${what}`);
  // Otherwise the test would show little: the manager sees signed requests only.
  assert.ok((counts.get('accepted, signed') ?? 0) > numRuns / 10);
  assert.ok(counts.size > 20);
});
