import './reflect-metadata.ts';
import { createHash, createPrivateKey, type webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { Clock } from '@tartan/kube/clock';
import type { KeyValues } from '../storage/sqlite/journal.ts';
import type { PkiKeys } from './pki.ts';

const curve = { name: 'ECDSA', namedCurve: 'P-256' };
export const signingAlgorithm = { name: 'ECDSA', hash: 'SHA-256' };
const year = 365 * 24 * 3600 * 1000;

export const generateKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  crypto.subtle.generateKey(curve, true, ['sign', 'verify']);

export const privateKeyPem = async ({ privateKey }: webcrypto.CryptoKeyPair): Promise<string> =>
  `${PemConverter.encode(await crypto.subtle.exportKey('pkcs8', privateKey), 'PRIVATE KEY')}\n`;

export const readSigningKey = (pem: string): webcrypto.CryptoKey =>
  createPrivateKey(pem).toCryptoKey(curve, true, ['sign']);

const authorityCertificate = async (clock: Clock, keys: webcrypto.CryptoKeyPair): Promise<string> => {
  // SHA-256 of the key, truncated to 20 bytes. Any hash will do, as long as certificates repeat it.
  const spki = await crypto.subtle.exportKey('spki', keys.publicKey);
  const keyId = createHash('sha256').update(Buffer.from(spki)).digest('hex').slice(0, 40);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=kubernetes',
    keys,
    signingAlgorithm,
    notBefore: new Date(clock.now() - year),
    notAfter: new Date(clock.now() + 10 * year),
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(
        KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment | KeyUsageFlags.keyCertSign,
        true,
      ),
      new SubjectKeyIdentifierExtension(keyId),
    ],
  });
  return `${certificate.toString('pem')}\n`;
};

/** For a new cluster. */
export const generatePkiKeys = async (clock: Clock): Promise<PkiKeys> => {
  const [authority, tokens] = await Promise.all([generateKeys(), generateKeys()]);
  const [caCertificate, caKey, tokenKey] = await Promise.all([
    authorityCertificate(clock, authority),
    privateKeyPem(authority),
    privateKeyPem(tokens),
  ]);
  return { caCertificate, caKey, tokenKey };
};

const keysName = 'identity-keys';

/** The keys in the data of a cluster; creates them if there are none. */
export const loadPkiKeys = async (facts: KeyValues, clock: Clock): Promise<PkiKeys> => {
  const kept = facts.get(keysName);
  if (kept !== undefined) return JSON.parse(kept) as PkiKeys;
  const keys = await generatePkiKeys(clock);
  facts.set(keysName, JSON.stringify(keys));
  return keys;
};
