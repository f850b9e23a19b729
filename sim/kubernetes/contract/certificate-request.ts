import '../src/pki/reflect-metadata.ts';
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

const pem = (label: string, der: ArrayBuffer): string => {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
};

export interface CertificateWish {
  /** PEM. */
  key: string;
  /** PKCS#10 in PEM, in base64: as `spec.request` wants it. */
  request: string;
}

/** A fresh key and a request to certify it. */
export const certificateWish = async (
  commonName: string,
  organizations: readonly string[],
): Promise<CertificateWish> => {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: [...organizations.map((name) => ({ O: [name] })), { CN: [commonName] }],
    keys,
    signingAlgorithm: algorithm,
  });
  return {
    key: pem('PRIVATE KEY', await crypto.subtle.exportKey('pkcs8', keys.privateKey)),
    request: Buffer.from(request.toString('pem')).toString('base64'),
  };
};
