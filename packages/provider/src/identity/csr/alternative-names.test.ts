import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  alternativeNames,
  der,
  generalName,
  keyUsageExtension,
  microsoftAlternativeName,
} from '../testing/make-csr.ts';
import { canonicalAddress, parseAlternativeNames } from './parse-request.ts';

const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const extensionRequest = '2a864886f70d01090e';
const names = der(0x30, generalName.ip(192, 0, 2, 7));
const extension = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const attribute = (...extensions: readonly Uint8Array[]): Buffer =>
  der(0x30, oid(extensionRequest), der(0x31, der(0x30, ...extensions)));
const good = extension(oid('551d11'), der(0x04, names));

describe('subject alternative names of a certificate request', () => {
  test('are parsed in the encoding of Kubernetes', () => {
    const v6 = [0x20, 0x01, 0x0d, 0xb8, ...Array.from({ length: 11 }, () => 0), 7];
    const asked = alternativeNames(generalName.dns('mac-1'), generalName.ip(192, 0, 2, 7), generalName.ip(...v6));
    assert.deepEqual(parseAlternativeNames(asked), {
      ok: true,
      names: { addresses: ['192.0.2.7', '2001:db8::7'], dnsNames: ['mac-1'], others: 0 },
    });
    assert.deepEqual(parseAlternativeNames(alternativeNames()), {
      ok: true,
      names: { addresses: [], dnsNames: [], others: 0 },
    });
  });

  test('of other kinds are counted', () => {
    const asked = alternativeNames(generalName.mail('a@b'), generalName.uri('spiffe://x'), der(0xa4, der(0x30)));
    assert.deepEqual(parseAlternativeNames(asked), { ok: true, names: { addresses: [], dnsNames: [], others: 3 } });
  });

  test('an IPv4-mapped IPv6 address is not the IPv4 address', () => {
    const mapped = [...Array.from({ length: 10 }, () => 0), 0xff, 0xff, 192, 0, 2, 7];
    const reading = parseAlternativeNames(alternativeNames(generalName.ip(...mapped)));
    assert.ok(reading.ok);
    assert.deepEqual(reading.names.addresses, ['::ffff:c000:207']);
  });

  const rows: readonly [string, Uint8Array][] = [
    ['another extension', attribute(extension(oid('551d0f'), der(0x04, names)))],
    ['a second extension', attribute(good, good)],
    ['a key usage beside them', Buffer.concat([attribute(good), keyUsageExtension()])],
    ["Microsoft's attribute", microsoftAlternativeName('mac-1')],
    ['two attributes', Buffer.concat([attribute(good), attribute(good)])],
    ['two values', der(0x30, oid(extensionRequest), der(0x31, der(0x30, good), der(0x30, good)))],
    ['a critical extension', attribute(extension(oid('551d11'), der(0x01, Buffer.of(0xff)), der(0x04, names)))],
    ['names that are no list', attribute(extension(oid('551d11'), der(0x04, der(0x31))))],
    ['two lists', attribute(extension(oid('551d11'), der(0x04, names, names)))],
    ['an address of five bytes', alternativeNames(generalName.ip(1, 2, 3, 4, 5))],
    ['an address with its mask', alternativeNames(generalName.ip(192, 0, 2, 0, 255, 255, 255, 0))],
    ['a DNS name that is not ASCII', alternativeNames(generalName.dns('mäc-1'))],
    ['noise', Buffer.from('30820000', 'hex')],
  ];
  for (const [what, bytes] of rows)
    test(`${what} is rejected`, () => assert.equal(parseAlternativeNames(bytes).ok, false));

  test('parse to a result or an error for any bytes', () => {
    const whole = alternativeNames(generalName.dns('mac-1'), generalName.ip(192, 0, 2, 7));
    const answered = (bytes: Uint8Array): boolean => typeof parseAlternativeNames(bytes).ok === 'boolean';
    fc.assert(fc.property(fc.uint8Array(), answered));
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, byte) => {
        const changed = Buffer.from(whole);
        changed[at] = byte;
        return answered(changed);
      }),
    );
  });

  test('have one canonical spelling per address', () => {
    assert.equal(canonicalAddress('2001:0DB8:0:0:0:0:0:7'), '2001:db8::7');
    assert.equal(canonicalAddress('192.0.2.7'), '192.0.2.7');
    assert.equal(canonicalAddress('no:address'), 'no:address');
  });
});
