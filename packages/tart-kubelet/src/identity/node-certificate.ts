import { createPrivateKey, X509Certificate } from 'node:crypto';

/** Who the Node is: a client certificate with its key, both in PEM. */
export interface NodeCertificate {
  readonly cert: string;
  readonly key: string;
  /** `system:node:mac-1`. */
  readonly user: string;
  readonly notBefore: number;
  readonly notAfter: number;
}

const blocks = (text: string, kind: RegExp): readonly string[] =>
  [...text.matchAll(/-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g)]
    .filter(([, type = '']) => kind.test(type))
    .map(([block]) => `${block}\n`);

/**
 * A certificate and its key out of one text. `undefined` for anything that is not both, one belonging to the other: what OpenSSL says
 * of it stays here, as it may quote the key.
 */
export const nodeCertificateIn = (text: string): NodeCertificate | undefined => {
  const [key, ...otherKeys] = blocks(text, /PRIVATE KEY$/);
  const chain = blocks(text, /^CERTIFICATE$/);
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
