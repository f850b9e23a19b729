import type { Clock } from '@tartan/kube/clock';

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
  /** Without a uid when a Pod is bound to a Node that does not exist. */
  node?: { name: string; uid: string };
  secret?: { name: string; uid: string };
  audiences: readonly string[];
  expirationSeconds: number;
  /** `jti`, in a verified token: audit logs know a credential by it. */
  id?: string;
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
  /**
   * The claims of a token that this cluster signed, that has not expired, and that names one of `audiences` (by default the
   * issuer); undefined for anything else.
   */
  verifyToken(token: string, audiences?: readonly string[]): Promise<ServiceAccountClaims | undefined>;
  /** Why `verifyToken` refused: the text that a TokenReview shows, or undefined for what does not even claim to be of this cluster. */
  problemOf(token: string, audiences?: readonly string[]): Promise<string | undefined>;
}

/** What an identity consists of, in PEM: with the same keys, certificates and tokens of an earlier run stay valid. */
export interface IdentityKeys {
  caCertificate: string;
  caKey: string;
  /** Signs tokens of service accounts. */
  tokenKey: string;
}

export type CreateIdentity = (clock: Clock, keys?: IdentityKeys) => Promise<Identity>;
