import './reflect-metadata.ts';
import { generateKeyPairSync, randomBytes, webcrypto } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@tartan/kube/clock';
import * as x509 from '@peculiar/x509';

/** A certificate and its private key, as PEM. */
export interface Identity {
  certificate: string;
  key: string;
}

/** The subject of a client certificate. */
export interface Subject {
  user: string;
  groups?: readonly string[];
}

x509.cryptoProvider.set(webcrypto);

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const day = 24 * 60 * 60 * 1000;

/** A certificate authority for one test run. */
export const createAuthority = async (commonName: string): Promise<Identity> => {
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: [{ CN: [commonName] }],
    ...validity(),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: await privateKeyPem(keys.privateKey) };
};

/** For the servers of a control plane, which listen on loopback and are also clients of each other (etcd's peers). */
export const issueServerCertificate = (authority: Identity, commonName: string): Promise<Identity> =>
  issue(authority, {
    name: [{ CN: [commonName] }],
    usages: [x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth],
    names: [
      { type: 'ip', value: '127.0.0.1' },
      ...['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'].map(
        (value) => ({ type: 'dns', value }) as const,
      ),
    ],
  });

/** A certificate that identifies a user to the API server: the common name is the name, the organisations are the groups. */
export const issueClientCertificate = (authority: Identity, { user, groups = [] }: Subject): Promise<Identity> =>
  issue(authority, {
    name: [...groups.map((group) => ({ O: [group] })), { CN: [user] }],
    usages: [x509.ExtendedKeyUsage.clientAuth],
    names: [],
  });

/** A key pair that signs service account tokens. */
export const createTokenKeys = (): { publicKey: string; privateKey: string } =>
  generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
  });

interface Request {
  name: x509.JsonName;
  usages: string[];
  names: x509.JsonGeneralNames;
}

const issue = async (authority: Identity, { name, usages, names }: Request): Promise<Identity> => {
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: name,
    issuer: new x509.X509Certificate(authority.certificate).subject,
    ...validity(),
    publicKey: keys.publicKey,
    signingKey: await importPrivateKey(authority.key),
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(usages),
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: await privateKeyPem(keys.privateKey) };
};

const generateKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

const importPrivateKey = (pem: string): Promise<webcrypto.CryptoKey> =>
  webcrypto.subtle.importKey('pkcs8', x509.PemConverter.decodeFirst(pem), algorithm, false, ['sign']);

const privateKeyPem = async (key: webcrypto.CryptoKey): Promise<string> =>
  `${x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')}\n`;

/** Positive, as RFC 5280 requires. */
const serialNumber = (): string => `01${randomBytes(15).toString('hex')}`;

/** From an hour ago, in case clocks differ, and longer than any test runs. */
const validity = (): { notBefore: Date; notAfter: Date } => {
  const now = systemClock.now();
  return { notBefore: new Date(now - day / 24), notAfter: new Date(now + 30 * day) };
};

/** Paths of the key material that the components read. */
export interface ControlPlaneFiles {
  ca: string;
  caKey: string;
  serverCertificate: string;
  serverKey: string;
  /** The identity of the API server as a client of etcd and the kubelets. */
  clientCertificate: string;
  clientKey: string;
  tokenPublicKey: string;
  tokenPrivateKey: string;
}

interface KeyMaterial {
  files: ControlPlaneFiles;
  authority: Identity;
  admin: Identity;
}

/** Creates the keys and certificates of a control plane below `dir`. */
export const writeKeyMaterial = async (dir: string): Promise<KeyMaterial> => {
  const folder = join(dir, 'pki');
  mkdirSync(folder, { mode: 0o700 });
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const authority = await createAuthority('kubernetes-ca');
  const server = await issueServerCertificate(authority, 'kube-apiserver');
  const client = await issueClientCertificate(authority, {
    user: 'kube-apiserver-kubelet-client',
    groups: ['system:masters'],
  });
  const admin = await issueClientCertificate(authority, { user: 'kubernetes-admin', groups: ['system:masters'] });
  const tokens = createTokenKeys();
  return {
    authority,
    admin,
    files: {
      ca: write('ca.crt', authority.certificate),
      caKey: write('ca.key', authority.key),
      serverCertificate: write('server.crt', server.certificate),
      serverKey: write('server.key', server.key),
      clientCertificate: write('client.crt', client.certificate),
      clientKey: write('client.key', client.key),
      tokenPublicKey: write('service-accounts.pub', tokens.publicKey),
      tokenPrivateKey: write('service-accounts.key', tokens.privateKey),
    },
  };
};
