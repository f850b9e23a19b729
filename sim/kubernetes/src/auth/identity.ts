import type { Clock } from '../clock/clock.ts';

export interface CertificateRequest {
  commonName: string;
  organizations: readonly string[];
  /** Subject alternative names, for serving certificates. */
  addresses?: readonly string[];
  dnsNames?: readonly string[];
  usages: readonly ('client auth' | 'server auth' | 'digital signature' | 'key encipherment')[];
  seconds: number;
}

export interface KeyPair {
  /** PEM. */
  certificate: string;
  key: string;
}

export interface ServiceAccountClaims {
  namespace: string;
  serviceAccount: { name: string; uid: string };
  pod?: { name: string; uid: string };
  node?: { name: string; uid: string };
  secret?: { name: string; uid: string };
  audiences: readonly string[];
  expirationSeconds: number;
}

/** The secrets of one cluster: its certificate authority and its token key. Private keys never leave it. */
export interface Identity {
  /** PEM of the certificate authority, which signs both servers and clients. */
  caCertificate: string;
  /** `iss` of the tokens, and their default audience. */
  issuer: string;
  /** A fresh key and a certificate for it. */
  issue(request: CertificateRequest): Promise<KeyPair>;
  /** Signs a PKCS#10 request (PEM); answers the certificate (PEM). Rejects what is not a valid request. */
  sign(csr: string, usages: readonly string[], seconds: number): Promise<string>;
  signToken(claims: ServiceAccountClaims): Promise<{ token: string; expirationTimestamp: string }>;
  /** The claims of a token that this cluster signed and that has not expired; undefined for anything else. */
  verifyToken(token: string, audiences?: readonly string[]): Promise<ServiceAccountClaims | undefined>;
}

export type CreateIdentity = (clock: Clock) => Promise<Identity>;
