import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Validity } from '../certificates/x509.ts';
import { writeFileAtomic } from '../journal/atomic-write.ts';

/** A certificate of the Node with its key, both in PEM. */
export interface NodeCertificate extends Validity {
  readonly cert: string;
  readonly key: string;
  /** `system:node:mac-1`. */
  readonly user: string;
}

const pemBlocks = (text: string, kind: RegExp): readonly string[] =>
  [...text.matchAll(/-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g)]
    .filter(([, type = '']) => kind.test(type))
    .map(([block]) => `${block}\n`);

/**
 * Parses a certificate and its key from one text. `undefined` unless both are present and match. Drops OpenSSL's errors, as they may
 * quote the key.
 */
export const parseNodeCertificate = (text: string): NodeCertificate | undefined => {
  const [key, ...otherKeys] = pemBlocks(text, /PRIVATE KEY$/);
  const chain = pemBlocks(text, /^CERTIFICATE$/);
  if (key === undefined || otherKeys.length > 0 || chain[0] === undefined) return undefined;
  try {
    const certificate = new X509Certificate(chain[0]);
    if (!certificate.checkPrivateKey(createPrivateKey(key))) return undefined;
    return {
      cert: chain.join(''),
      key,
      user: /^CN=(.*)$/m.exec(certificate.subject)?.[1] ?? '',
      notBefore: certificate.validFromDate.getTime(),
      notAfter: certificate.validToDate.getTime(),
    };
  } catch {
    return undefined;
  }
};

/** Beside the kubeconfig, which the host steps write: each file has one writer, so neither overwrites the other's changes. */
export const certificatePath = (kubeconfig: string): string => join(dirname(kubeconfig), 'node-certificate.pem');

/** `undefined` for a missing file, or one without a certificate and its key. */
export const readCertificate = async (path: string): Promise<NodeCertificate | undefined> =>
  parseNodeCertificate(await readFile(path, 'utf8').catch(() => ''));

/** One file for both, so that a crash leaves the old or the new pair. Readable only by its user. */
export const writeCertificate = (path: string, { cert, key }: Pick<NodeCertificate, 'cert' | 'key'>): Promise<void> =>
  writeFileAtomic(path, `${cert.trimEnd()}\n${key}`);
