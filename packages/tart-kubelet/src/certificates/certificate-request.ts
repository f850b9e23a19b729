import { integer, objectID, pem, sequence, set, tagged } from './der.ts';
import { makeKeys, signed } from './signed.ts';
import { alternativeNames, type CertificateSubject, nameOf } from './subject.ts';

export interface CertificateRequest {
  /** PEM. Never leaves this Mac. */
  readonly key: string;
  /** PKCS#10 in PEM. */
  readonly request: string;
}

const extensionRequest = objectID('2a864886f70d01090e');
const version = integer(Buffer.of(0));

/** A fresh key, and the request to certify it as that of this Node: for a client, or with addresses for serving. */
export const makeRequest = (subject: CertificateSubject): CertificateRequest => {
  const keys = makeKeys();
  const names = alternativeNames(subject);
  // An empty set of attributes, which is what the provider takes for none.
  const attributes = names === undefined ? [] : [sequence(extensionRequest, set(sequence(names)))];
  const content = sequence(version, nameOf(subject), keys.publicKey, tagged(0, ...attributes));
  return { key: keys.key, request: pem('CERTIFICATE REQUEST', signed(content, keys)) };
};
