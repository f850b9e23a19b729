import { randomBytes } from 'node:crypto';
import { integer, objectID, octets, pem, sequence, tagged, time, yes } from './der.ts';
import { algorithm, makeKeys, signed } from './signed.ts';
import { alternativeNames, type CertificateSubject, nameOf } from './subject.ts';

const hourMs = 3_600_000;
const version3 = tagged(0, integer(Buffer.of(2)));
/** Digital signature: the first bit of a string of one bit. */
const keyUsage = sequence(objectID('551d0f'), yes, octets(Buffer.from('03020780', 'hex')));
const serverAuth = sequence(objectID('551d25'), octets(sequence(objectID('2b06010505070301'))));

/**
 * One that vouches for itself, until somebody else does: an API server without `--kubelet-certificate-authority` is content with it, and
 * people can read logs while a request waits for its approval.
 */
export const makeSelfSigned = (
  subject: CertificateSubject,
  now: number,
): { readonly certificate: string; readonly key: string } => {
  const keys = makeKeys();
  const name = nameOf(subject);
  const names = alternativeNames(subject);
  const content = sequence(
    version3,
    integer(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    algorithm,
    name,
    sequence(time(now - hourMs), time(now + 365 * 24 * hourMs)),
    name,
    keys.publicKey,
    tagged(3, sequence(keyUsage, serverAuth, ...(names === undefined ? [] : [names]))),
  );
  return { certificate: pem('CERTIFICATE', signed(content, keys)), key: keys.key };
};
