import { generateKeyPairSync } from 'node:crypto';
import { makeCertificateRequest } from '../src/pki/testing/make-certificate-request.ts';

export interface CertificateWish {
  /** PEM. */
  key: string;
  /** PKCS#10 in PEM, in base64: the format of `spec.request`. */
  request: string;
}

/** A new key and a request to certify it. */
export const newCertificateRequest = async (
  commonName: string,
  organizations: readonly string[],
): Promise<CertificateWish> => {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const request = await makeCertificateRequest({ commonName, organizations, keys });
  return {
    key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }),
    request: Buffer.from(request).toString('base64'),
  };
};
