import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { ConfigError, type ConfigLocation } from './config-file.ts';

/** Errors never include OpenSSL's messages: these may quote the key or certificate. */

export const decodeBase64 = (location: ConfigLocation, text: string): string => {
  const bare = text.replaceAll(/\s/g, '');
  if (bare.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(bare))
    throw new ConfigError(location, 'is not base64. It must hold a whole PEM file in base64, on one line.');
  return Buffer.from(bare, 'base64').toString('utf8');
};

/** One or more certificates. */
export const checkCertificates = (location: ConfigLocation, pem: string): X509Certificate => {
  const [first, ...others] = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  const certificate = first === undefined ? undefined : parseCertificate(first);
  if (certificate === undefined || others.some((other) => parseCertificate(other) === undefined))
    throw new ConfigError(location, 'is not a certificate in PEM (-----BEGIN CERTIFICATE-----).');
  return certificate;
};

const parseCertificate = (pem: string): X509Certificate | undefined => {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
};

const checkKey = (location: ConfigLocation, pem: string): KeyObject => {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new ConfigError(
      location,
      'is not a private key in PEM, or it is encrypted with a pass phrase. Store it decrypted.',
    );
  }
};

export interface KeyPair {
  cert: string;
  key: string;
}

export const checkKeyPair = (pair: KeyPair, places: { cert: ConfigLocation; key: ConfigLocation }): KeyPair => {
  const certificate = checkCertificates(places.cert, pair.cert);
  const key = checkKey(places.key, pair.key);
  if (!keyMatchesCertificate(certificate, key))
    throw new ConfigError(places.key, 'does not belong to the client certificate. Replace both together.');
  return pair;
};

const keyMatchesCertificate = (certificate: X509Certificate, key: KeyObject): boolean => {
  try {
    return certificate.checkPrivateKey(key);
  } catch {
    return false;
  }
};
