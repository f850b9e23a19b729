import '../reflect-metadata.ts';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type JsonName, Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } from '@peculiar/x509';

export interface WantedCertificate {
  commonName: string;
  organizations?: readonly string[];
  dnsNames?: readonly string[];
  addresses?: readonly string[];
  emails?: readonly string[];
  uris?: readonly string[];
  keys?: { publicKey: KeyObject; privateKey: KeyObject };
}

const algorithms = {
  ec: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  rsa: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  ed25519: { name: 'Ed25519' },
} as const;

/** A PKCS#10 request in PEM, as a kubelet creates it. */
export const makeCertificateRequest = async (wanted: WantedCertificate): Promise<string> => {
  const { publicKey, privateKey } = wanted.keys ?? generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = algorithms[(publicKey.asymmetricKeyType ?? 'ec') as keyof typeof algorithms];
  const organizations = wanted.organizations ?? [];
  const name: JsonName = [
    ...(organizations.length > 0 ? [{ O: [...organizations] }] : []),
    { CN: [wanted.commonName] },
  ];
  const names = [
    ...(wanted.dnsNames ?? []).map((value) => ({ type: 'dns' as const, value })),
    ...(wanted.addresses ?? []).map((value) => ({ type: 'ip' as const, value })),
    ...(wanted.emails ?? []).map((value) => ({ type: 'email' as const, value })),
    ...(wanted.uris ?? []).map((value) => ({ type: 'url' as const, value })),
  ];
  const request = await Pkcs10CertificateRequestGenerator.create({
    name,
    keys: {
      publicKey: publicKey.toCryptoKey(algorithm, true, ['verify']),
      privateKey: privateKey.toCryptoKey(algorithm, true, ['sign']),
    },
    signingAlgorithm: algorithm,
    extensions: names.length > 0 ? [new SubjectAlternativeNameExtension(names)] : [],
  });
  return `${request.toString('pem')}\n`;
};
