import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import fc from 'fast-check';
import { SignJWT } from 'jose';
import { firstPemBlock } from './certificate-request.ts';
import { type ClusterPki, createClusterPki, type ServiceAccountClaims, validity } from './pki.ts';
import { makeCertificateRequest } from './testing/make-certificate-request.ts';

const claims: ServiceAccountClaims = {
  namespace: 'default',
  serviceAccount: { name: 'builder', uid: 'u-1' },
  pod: { name: 'p', uid: 'u-2' },
  node: { name: 'n', uid: 'u-3' },
  audiences: ['https://kubernetes.default.svc'],
  expirationSeconds: 600,
};

describe('the PKI of a cluster', () => {
  const clock = manualClock();
  let identity: ClusterPki;
  before(async () => {
    identity = await createClusterPki(clock);
  });

  it('issues certificates that are valid for its authority', async () => {
    const { certificate, key } = await identity.issue({
      commonName: 'kube-apiserver',
      organizations: ['a', 'b'],
      addresses: ['127.0.0.1', '::1'],
      dnsNames: ['localhost'],
      usages: ['server auth', 'digital signature'],
      seconds: 3600,
    });
    const issued = new X509Certificate(certificate);
    const authority = new X509Certificate(identity.caCertificate);
    assert.equal(authority.ca, true);
    assert.equal(issued.ca, false);
    assert.ok(issued.checkIssued(authority));
    assert.ok(issued.verify(authority.publicKey));
    assert.equal(issued.checkIP('127.0.0.1'), '127.0.0.1');
    assert.equal(issued.checkIP('::1'), '::1');
    assert.equal(issued.checkHost('localhost'), 'localhost');
    assert.equal(issued.checkHost('elsewhere'), undefined);
    assert.deepEqual(issued.keyUsage, ['1.3.6.1.5.5.7.3.1']);
    assert.ok(issued.publicKey.equals(createPublicKey(key)));
  });

  for (const [kind, keys] of [
    ['an elliptic', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['an RSA', generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['an Edwards', generateKeyPairSync('ed25519')],
  ] as const) {
    it(`signs a request with ${kind} key and keeps subject and names`, async () => {
      const csr = await makeCertificateRequest({
        keys,
        commonName: 'system:node:mac-1',
        organizations: ['system:nodes'],
        addresses: ['10.0.0.1'],
      });
      const signed = new X509Certificate(await identity.sign(csr, ['client auth', 'digital signature'], 3600));
      assert.ok(signed.verify(new X509Certificate(identity.caCertificate).publicKey));
      assert.equal(signed.subject, 'O=system:nodes\nCN=system:node:mac-1');
      assert.equal(signed.checkIP('10.0.0.1'), '10.0.0.1');
      assert.deepEqual(signed.keyUsage, ['1.3.6.1.5.5.7.3.2']);
      assert.ok(signed.publicKey.equals(keys.publicKey));
    });
  }

  it('refuses to sign anything but a valid request', async () => {
    const good = await makeCertificateRequest({ commonName: 'x' });
    await assert.rejects(identity.sign('', [], 600), /PEM block type must be CERTIFICATE REQUEST/);
    await assert.rejects(identity.sign(identity.caCertificate, [], 600), /PEM block type must be CERTIFICATE REQUEST/);
    const der = firstPemBlock(good)?.block.bytes ?? assert.fail('no PEM');
    await identity.sign(good, ['client auth'], 600);
    const pem = (bytes: Buffer): string =>
      `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    await fc.assert(
      // The bytes that the requester signed.
      fc.asyncProperty(fc.integer({ min: 5, max: 110 }), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const broken = Buffer.from(der);
        broken[at] = (broken[at] ?? 0) ^ flip;
        await assert.rejects(identity.sign(pem(broken), ['client auth'], 600));
      }),
      { numRuns: 150 },
    );
    const strange = Buffer.from(der);
    const algorithm = strange.indexOf(Buffer.from('2a8648ce3d040302', 'hex'));
    strange[algorithm] = 0x2b;
    await assert.rejects(identity.sign(pem(strange), [], 600), /algorithm unimplemented/);
    await assert.rejects(identity.sign(pem(Buffer.concat([der, Buffer.from('x')])), [], 600), /trailing data/);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        await assert.rejects(identity.sign(pem(Buffer.from(bytes)), [], 600));
      }),
      { numRuns: 100 },
    );
  });

  it('accepts only its own tokens', async () => {
    const { token, expirationTimestamp } = await identity.signToken(claims);
    assert.equal(expirationTimestamp, '2026-01-01T00:10:00Z');
    const { id, ...verified } = (await identity.verifyToken(token)) ?? assert.fail('not verified');
    assert.match(id ?? '', /^[0-9a-f-]{36}$/);
    assert.deepEqual(verified, claims);
    const stranger = await createClusterPki(clock);
    assert.equal(await stranger.verifyToken(token), undefined);
    assert.equal(await stranger.tokenError(token), 'go-jose/go-jose: error in cryptographic primitive');
    assert.equal(await identity.tokenError('a.b.c'), undefined);
    assert.equal(await identity.verifyToken(''), undefined);
  });

  it('puts the claims of the real server into a bound token', async () => {
    const { token } = await identity.signToken(claims);
    const { jti, ...payload } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
      string,
      unknown
    >;
    assert.equal(typeof jti, 'string');
    const now = clock.now() / 1000;
    assert.deepEqual(payload, {
      iss: 'https://kubernetes.default.svc',
      sub: 'system:serviceaccount:default:builder',
      aud: ['https://kubernetes.default.svc'],
      iat: now,
      nbf: now,
      exp: now + 600,
      'kubernetes.io': {
        namespace: 'default',
        serviceaccount: { name: 'builder', uid: 'u-1' },
        pod: { name: 'p', uid: 'u-2' },
        node: { name: 'n', uid: 'u-3' },
      },
    });
  });

  it('accepts a token only for its audience', async () => {
    const { token } = await identity.signToken({ ...claims, audiences: ['vault', 'x'] });
    assert.ok(await identity.verifyToken(token, ['vault']));
    assert.equal(await identity.verifyToken(token), undefined);
    assert.equal(
      await identity.tokenError(token),
      'token audiences ["vault" "x"] is invalid for the target audiences ["https://kubernetes.default.svc"]',
    );
  });

  it('accepts a token until a minute after its expiry', async () => {
    const { token } = await identity.signToken(claims);
    clock.advance(600_000 + 59_000);
    assert.ok(await identity.verifyToken(token));
    clock.advance(2_000);
    assert.equal(await identity.verifyToken(token), undefined);
    assert.equal(await identity.tokenError(token), 'service account token has expired');
  });

  it('refuses a token with another algorithm', async () => {
    const own = new SignJWT({ 'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'a', uid: 'b' } } })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer(identity.issuer)
      .setAudience(identity.issuer)
      .setIssuedAt(clock.now() / 1000)
      .setNotBefore(clock.now() / 1000)
      .setExpirationTime(clock.now() / 1000 + 600);
    const signed = await own.sign(Buffer.from(identity.caCertificate));
    assert.equal(await identity.verifyToken(signed), undefined);
    const [, payload] = signed.split('.');
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    assert.equal(await identity.verifyToken(none), undefined);
  });
});

describe('the validity of a certificate', () => {
  const minute = 60_000;
  const hour = 60 * minute;
  const far = 1e15;
  for (const [name, milliseconds, ends, expected] of [
    ['a short one ends when asked', hour, far, hour],
    ['a long one includes the backdating', 9 * hour, far, 9 * hour - 5 * minute],
    ['none outlives its signer', hour, minute, minute],
  ] as const) {
    it(name, () => {
      const { notBefore, notAfter } = validity(0, milliseconds, ends);
      assert.deepEqual([notBefore.getTime(), notAfter.getTime()], [-5 * minute, expected]);
    });
  }
});
