import { generateKeyPairSync, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { bits, choice, objectID, octets, sequence, set, tagged, utf8, zero } from './der.ts';

export interface CertificateWish {
  /** PEM. Never leaves this Mac. */
  readonly key: string;
  /** PKCS#10 in PEM, in base64: as `spec.request` has it. */
  readonly request: string;
}

const organization = '55040a';
const commonName = '550403';
const ecdsaWithSHA256 = '2a8648ce3d040302';
const extensionRequest = '2a864886f70d01090e';
const subjectAlternativeName = '551d11';

const nameIs = (type: string, text: string): Buffer => set(sequence(objectID(type), utf8(text)));

/** Only IPv4: the addresses of Macs are. */
const addressName = (address: string): Buffer => choice(7, Buffer.from(address.split('.').map(Number)));

const alternativeNames = (addresses: readonly string[]): Buffer =>
  sequence(
    objectID(extensionRequest),
    set(sequence(sequence(objectID(subjectAlternativeName), octets(sequence(...addresses.map(addressName)))))),
  );

/**
 * A fresh key, and the request to certify it as that of this Node: `O=system:nodes`, `CN=system:node:<name>` and nothing else, as the
 * provider approves no other. Addresses are for serving certificates; a client certificate must have none.
 */
export const certificateWish = (nodeName: string, addresses: readonly string[] = []): CertificateWish => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = sequence(nameIs(organization, 'system:nodes'), nameIs(commonName, `system:node:${nodeName}`));
  const extensions = addresses.filter((address) => isIPv4(address));
  const content = sequence(
    zero,
    subject,
    publicKey.export({ format: 'der', type: 'spki' }),
    tagged(0, ...(extensions.length === 0 ? [] : [alternativeNames(extensions)])),
  );
  const request = sequence(content, sequence(objectID(ecdsaWithSHA256)), bits(sign('sha256', content, privateKey)));
  const lines = request.toString('base64').match(/.{1,64}/g) ?? [];
  const pem = ['-----BEGIN CERTIFICATE REQUEST-----', ...lines, '-----END CERTIFICATE REQUEST-----', ''].join('\n');
  return {
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }),
    request: Buffer.from(pem).toString('base64'),
  };
};
