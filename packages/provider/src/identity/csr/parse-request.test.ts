import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  alternativeName,
  der,
  keyUsageExtension,
  makeCSR,
  makeDer,
  microsoftAlternativeName,
  pemOf,
} from '../testing/make-csr.ts';
import { type ParsedRequest, parseRequest, type RequestedCertificate } from './parse-request.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const plain = (requested: RequestedCertificate) => ({ ...requested, attributes: requested.attributes.length });
const read = (wanted: Parameters<typeof makeCSR>[0]): RequestedCertificate => {
  const reading = parseRequest(makeCSR(wanted));
  assert.ok(reading.ok, JSON.stringify(reading));
  return reading.requested;
};
const problemOf = (request: string): string => {
  const reading = parseRequest(request);
  assert.ok(!reading.ok);
  return reading.problem;
};

/** Made with `openssl req -new -newkey rsa:2048 -subj /O=system:nodes/CN=system:node:mac-1`. */
const byOpenSSL = `-----BEGIN CERTIFICATE REQUEST-----
MIICeDCCAWACAQAwMzEVMBMGA1UECgwMc3lzdGVtOm5vZGVzMRowGAYDVQQDDBFz
eXN0ZW06bm9kZTptYWMtMTCCASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoCggEB
AIsQvZMlWDMUPIWJe84Hua2qi90xGl5SZ/pDfVwThUGIxAmRYx6v7GLQhE9yt9bx
VfdBHvawupD9M2QNrQPv6seRuKWWkUwbjvC2Fce4VPanKdYQsc+cIMp4LN0datbx
MZpyDQhhR6tN76KqZAZrEzTGdtFz7V2PqgVXeAm+Xsp/yX8BqOg/NIrNJv+98b5P
B7tYGx+IzlywBqAxjF6C4wvuufI4qDBZ5jXqlcUwTbInnRYNIyTY4ZdH0VfOA3wa
mQevhM2db9Nl9giWWjw4lefhRLxW1DwqLauhFgGrYvUR5VMLyeLKs1mZOTVrNy+F
hm/HI/SMONZUezKzTBMYV+0CAwEAAaAAMA0GCSqGSIb3DQEBCwUAA4IBAQAQx/PE
Rh3wNy4QygcTivgqvtu5SpYniEMvscyrrnTlCcB3Pot4dVwJ6A1ow1CeBYpmgaai
+9URPZL3QN1nt3gUebXdqVY6dqqbdcAQcDhG6MlK9h7bZJM9kbpEfizDBZml3JUm
IhUMgwxjQL5RGkFRFo/ohin2pnXWdbFnF0MQs95Y6WXvl/97GuCwNXVWP2zMKH0r
04oRsJpljSC6vPcPOmxqyouMRdKDWZyEQ2Um/5al2l6giW60KoYmsux2GiOmX+Tn
oJwdXQN6Srf13Kk9wQZSRClILn3qO3rKF9UuU9Slw/A9fcp6Rtlkwx9VMZSbjYqq
CF0rrpog3kx2KZLq
-----END CERTIFICATE REQUEST-----
`;

describe('parsing a certificate request', () => {
  test('reads the subject and key of a request made by an agent', () => {
    const subject = [
      { type: 'O', text: 'system:nodes' },
      { type: 'CN', text: 'system:node:mac-1' },
    ];
    assert.deepEqual(plain(read({})), { subject, attributes: 0, keyIsRSA: false });
    assert.deepEqual(plain(read({ textTag: 0x0c })), { subject, attributes: 0, keyIsRSA: false });
    const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
    assert.deepEqual(plain(read({ keys })), { subject, attributes: 0, keyIsRSA: true });
    const foreign = parseRequest(base64(byOpenSSL));
    assert.ok(foreign.ok);
    assert.deepEqual(plain(foreign.requested), { subject, attributes: 0, keyIsRSA: true });
  });

  test('reads all organisations, in one part of the name or in two', () => {
    const inOne = [
      [
        ['O', 'system:nodes'],
        ['O', 'system:masters'],
      ],
      [['CN', 'system:node:mac-1']],
    ] as const;
    const inTwo = [[['O', 'system:nodes']], [['O', 'system:masters']], [['CN', 'system:node:mac-1']]] as const;
    for (const subject of [inOne, inTwo])
      assert.deepEqual(
        read({ subject }).subject.map(({ text }) => text),
        ['system:nodes', 'system:masters', 'system:node:mac-1'],
      );
  });

  test('reports requested extensions, in any attribute', () => {
    for (const attribute of [alternativeName('x'), microsoftAlternativeName('x'), keyUsageExtension()])
      assert.deepEqual(Buffer.from(read({ attributes: [attribute] }).attributes), attribute);
  });
});

describe('a request that two parsers could read differently is rejected', () => {
  const good = makeDer({});
  const content = good.subarray(good[1] === 0x81 ? 3 : 4);
  const lengthDigits = Buffer.from([0x00, content.length >> 8, content.length & 0xff]);
  const headed = (...header: readonly number[]): Buffer => Buffer.concat([Buffer.from([0x30, ...header]), content]);
  const oid = der(0x06, Buffer.of(0x2a));
  const bits = der(0x03, Buffer.of(0, 1));
  const [version, name, key] = [der(0x02, Buffer.of(0)), der(0x30), der(0x30, der(0x30, oid), bits)];
  const outer = (algorithm: Buffer, signature: Buffer): string =>
    base64(pemOf(der(0x30, der(0x30, version, name, key, der(0xa0)), algorithm, signature)));
  const rawCSR = (...content: readonly Buffer[]): string =>
    base64(pemOf(der(0x30, der(0x30, ...content), der(0x30, oid), bits)));
  const rows: readonly [string, string, RegExp][] = [
    ['nothing', '', /PEM/],
    ['no PEM', base64('hello'), /PEM/],
    ['two blocks', base64(pemOf(good) + pemOf(good)), /PEM/],
    ['text before the block', base64(`a: b\n${pemOf(good)}`), /PEM/],
    ['a header in the block', base64(pemOf(good).replace('-----\n', '-----\nProc-Type: 4,ENCRYPTED\n\n')), /PEM/],
    ['no line break before the end', base64(pemOf(good).replace(/\n+-----END/, '-----END')), /PEM/],
    ['a block of another type', base64(pemOf(good).replaceAll('CERTIFICATE', 'NEW CERTIFICATE')), /PEM/],
    ['base64 that goes on after its end', base64(pemOf(good).replace('\n-----END', '=AAAA\n-----END')), /PEM/],
    ['bytes after the request', base64(pemOf(Buffer.concat([good, Buffer.from([5, 0])]))), /2 values instead of 1/],
    ['a request that is cut off', base64(pemOf(good.subarray(0, 100))), /longer than what holds it/],
    ['an indefinite length', base64(pemOf(Buffer.concat([headed(0x80), Buffer.alloc(2)]))), /indefinite/],
    ['a length in a longer form than needed', base64(pemOf(headed(0x83, ...lengthDigits))), /shortest form/],
    ['a short length in the long form', base64(pemOf(Buffer.from([0x30, 0x81, 0x00]))), /shortest form/],
    ['text in UTF-16', makeCSR({ textTag: 0x1e }), /no usual text/],
    ['text that is not UTF-8', makeCSR({ subject: [[['CN', Uint8Array.of(0xff)]]], textTag: 0x0c }), /UTF-8/],
    ['a content that is no sequence', base64(pemOf(der(0x30, der(0x31), der(0x30), der(0x03)))), /no content/],
    ['two values only', base64(pemOf(der(0x30, der(0x30), der(0x30)))), /2 values instead of 3/],
    ['no attributes, not even an empty set', rawCSR(version, name, key), /3 values instead of 4/],
    ['a fifth value in the content', rawCSR(version, name, key, der(0xa0), der(0x05)), /5 values instead of 4/],
    ['an algorithm with two parameters', outer(der(0x30, oid, oid, oid), bits), /more than an algorithm holds/],
    ['an algorithm with a list of parameters', outer(der(0x30, oid, der(0x30)), bits), /no OID/],
    ['an algorithm with more than null', outer(der(0x30, oid, der(0x05, Buffer.of(1))), bits), /no OID/],
    ['a signature that is no string of bits', outer(der(0x30, oid), der(0x04)), /no bits/],
    ['a signature with unused bits', outer(der(0x30, oid), der(0x03, Buffer.of(1, 2))), /no whole bytes/],
    ['a type with a byte too many', makeCSR({ subject: [[['55048003', 'a']]] }), /shortest form/],
    ['a type that is cut off', makeCSR({ subject: [[['550483', 'a']]] }), /cut off/],
    ['a type without a byte', makeCSR({ subject: [[['', 'a']]] }), /cut off/],
    ['printable text that is UTF-8', makeCSR({ subject: [[['CN', 'mäc']]] }), /other characters/],
    ['a megabyte of empty values', base64(pemOf(Buffer.alloc(2 ** 20))), /larger/],
    ['a tag of many bytes', base64(pemOf(Buffer.from([0x3f, 0x81, 0x00, 0x00]))), /tag of more/],
  ];
  for (const [what, request, problem] of rows) test(what, () => assert.match(problemOf(request), problem));

  test('parsing is total over any bytes, and errors quote nothing', () => {
    const answered = (reading: ParsedRequest): boolean => reading.ok || /^[A-Za-z0-9 -]+$/.test(reading.problem);
    fc.assert(fc.property(fc.string(), (text) => answered(parseRequest(text))));
    fc.assert(fc.property(fc.uint8Array(), (bytes) => answered(parseRequest(base64(pemOf(Buffer.from(bytes)))))));
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.nat(255), (at, byte) => {
        const changed = Buffer.from(good);
        changed[at] = byte;
        return answered(parseRequest(base64(pemOf(changed))));
      }),
    );
  });
});
