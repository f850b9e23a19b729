import type { CertificateSubject } from '../auth/certificate-request.ts';

const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  new Set(a).size === b.length && b.every((entry) => a.includes(entry));

/** With and without `key encipherment`, which only RSA keys need. */
const usagesMatch = (usages: readonly string[], purpose: string): boolean =>
  sameSet(usages, ['digital signature', purpose]) ||
  sameSet(usages, ['digital signature', 'key encipherment', purpose]);

const usageText = (purpose: string): string =>
  `usages did not match [${['digital signature', 'key encipherment', purpose].sort().join(' ')}]`;

const isNodeOrganization = ({ organizations }: CertificateSubject): boolean => sameSet(organizations, ['system:nodes']);

const kubeletClient = (wanted: CertificateSubject, usages: readonly string[]): string | undefined => {
  if (!isNodeOrganization(wanted)) return 'subject organization is not system:nodes';
  if (wanted.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (wanted.emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (wanted.addresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (wanted.uris.length > 0) return 'URI subjectAltNames are not allowed';
  if (!wanted.commonName.startsWith('system:node:')) return 'subject common name does not begin with system:node:';
  return usagesMatch(usages, 'client auth') ? undefined : usageText('client auth');
};

const kubeletServing = (wanted: CertificateSubject, usages: readonly string[]): string | undefined => {
  if (!isNodeOrganization(wanted)) return 'subject organization is not system:nodes';
  if (wanted.dnsNames.length === 0 && wanted.addresses.length === 0) return 'DNS or IP subjectAltName is required';
  if (wanted.emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (wanted.uris.length > 0) return 'URI subjectAltNames are not allowed';
  if (!usagesMatch(usages, 'server auth')) return usageText('server auth');
  return wanted.commonName.startsWith('system:node:')
    ? undefined
    : 'subject common name does not begin with system:node:';
};

const apiClient = (_wanted: CertificateSubject, usages: readonly string[]): string | undefined => {
  const strange = usages.find((usage) => !['digital signature', 'key encipherment', 'client auth'].includes(usage));
  if (strange !== undefined) return `invalid usage for client certificate: ${strange}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
};

const rules: Readonly<Record<string, typeof apiClient>> = {
  'kubernetes.io/kube-apiserver-client-kubelet': kubeletClient,
  'kubernetes.io/kubelet-serving': kubeletServing,
  'kubernetes.io/kube-apiserver-client': apiClient,
};

export const servedSigners: readonly string[] = Object.keys(rules);

/** Why this signer would not sign that; undefined if it would. */
export const signerProblem = (
  signerName: string,
  wanted: CertificateSubject,
  usages: readonly string[],
): string | undefined => rules[signerName]?.(wanted, usages);
