import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { bits, objectID, sequence } from './der.ts';

export interface Keys {
  /** As a certificate holds it. */
  readonly publicKey: Buffer;
  readonly privateKey: KeyObject;
  /** The private one in PEM. Never leaves this Mac. */
  readonly key: string;
}

export const makeKeys = (): Keys => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    publicKey: publicKey.export({ format: 'der', type: 'spki' }),
    privateKey,
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }),
  };
};

/** ECDSA with SHA-256. */
export const algorithm = sequence(objectID('2a8648ce3d040302'));

export const signed = (content: Buffer, { privateKey }: Keys): Buffer =>
  sequence(content, algorithm, bits(sign('sha256', content, privateKey)));
