import { generateKeyPairSync, sign } from 'node:crypto';

/** As much of DER as a certificate request needs. */
const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const digits = body.length < 0x100 ? 1 : 2;
  const length = Buffer.alloc(1 + digits, 0x80 | digits);
  length.writeUIntBE(body.length, 1, digits);
  return Buffer.concat([Buffer.from([tag]), length, body]);
};

const [sequence, set, objectID, text, bits, attributes] = [0x30, 0x31, 0x06, 0x13, 0x03, 0xa0];
const version = Buffer.from([0x02, 1, 0]);
const organization = Buffer.from('55040a', 'hex');
const commonName = Buffer.from('550403', 'hex');
const ecdsaWithSha256 = der(sequence, der(objectID, Buffer.from('2a8648ce3d040302', 'hex')));

const part = (type: Uint8Array, value: string): Buffer =>
  der(set, der(sequence, der(objectID, type), der(text, Buffer.from(value))));

export interface CertificateWish {
  /** PEM. */
  readonly key: string;
  /** PKCS#10 in PEM, in base64: as `spec.request` wants it. */
  readonly request: string;
}

/** A fresh key, and the request to certify it as that of this Node. */
export const certificateWish = (nodeName: string): CertificateWish => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = der(sequence, part(organization, 'system:nodes'), part(commonName, `system:node:${nodeName}`));
  const spki = publicKey.export({ format: 'der', type: 'spki' });
  const content = der(sequence, version, name, spki, der(attributes));
  const signature = der(bits, Buffer.from([0]), sign('sha256', content, privateKey));
  const lines = der(sequence, content, ecdsaWithSha256, signature).toString('base64').replaceAll(/.{64}/g, '$&\n');
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${lines}\n-----END CERTIFICATE REQUEST-----\n`;
  return {
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }),
    request: Buffer.from(pem).toString('base64'),
  };
};
