import { controllerManager } from '../authentication/user.ts';
import type { Attributes } from '../authorization/authorizer.ts';
import { ApiError } from '../errors/api-error.ts';
import { copy, type KubeObject } from '../object.ts';
import { type CertificateSubject, parseCertificateRequest } from '../pki/certificate-request.ts';
import type { ClusterPki } from '../pki/pki.ts';
import { type CertificateSigningRequestSpec, specOf } from '../registry/certificates/certificatesigningrequests.ts';
import { conditionsOf, hasCondition, statusOf } from '../registry/certificates/conditions.ts';
import type { Resource } from '../resource.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import type { Controller } from './runtime/workqueue.ts';

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

const servedSigners: readonly string[] = Object.keys(rules);

/** Why this signer refuses the request; undefined if it signs. */
export const signerProblem = (
  signerName: string,
  wanted: CertificateSubject,
  usages: readonly string[],
): string | undefined => rules[signerName]?.(wanted, usages);

const group = 'certificates.k8s.io';
const plural = 'certificatesigningrequests';
const yearSeconds = 365 * 24 * 3600;

type Reconcile = (api: LoopbackClient, resource: Resource, csr: KubeObject) => void | Promise<void>;

/**
 * Calls `reconcile` for every existing request, and after every write to one. A write that failed with a conflict needs no retry: the other
 * write causes another call.
 */
const csrController = (name: string, reconcile: Reconcile): Controller => ({
  name,
  start: (api) => {
    const resource = api.find(group, plural);
    if (!resource) return () => {};
    const waiting = new Set<string>();
    let stopped = false;
    const drain = async (): Promise<void> => {
      for (const each of waiting) {
        waiting.delete(each);
        const csr = stopped ? undefined : api.get(resource, '', each);
        try {
          if (csr) await reconcile(api, resource, csr);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
        }
      }
    };
    const note = (each: string): void => {
      if (waiting.size === 0) queueMicrotask(() => void drain());
      waiting.add(each);
    };
    for (const csr of api.list(resource, '')) note(csr.metadata.name);
    const unsubscribe = api.subscribe(resource, ({ object }) => object && note(object.metadata.name));
    return () => {
      stopped = true;
      waiting.clear();
      unsubscribe();
    };
  },
});

const isApproved = (csr: KubeObject): boolean => hasCondition(csr, 'Approved');

const permission = (spec: CertificateSigningRequestSpec, subresource: string): Attributes => ({
  user: { name: spec.username, uid: spec.uid, groups: spec.groups, extra: spec.extra },
  verb: 'create',
  group,
  version: '*',
  resource: plural,
  subresource,
  namespace: '',
  name: '',
  fieldSelector: '',
  labelSelector: '',
});

/**
 * Why a request for a node's client certificate is approved: a node requests its own, or the user may request one for a node. A request of
 * any other shape is never approved here, whatever the authorizer allows.
 */
const approvalMessage = (
  spec: CertificateSigningRequestSpec,
  authorize: LoopbackClient['authorize'],
): string | undefined => {
  if (spec.signerName !== 'kubernetes.io/kube-apiserver-client-kubelet') return undefined;
  const wanted = parseCertificateRequest(spec.request);
  if (signerProblem(spec.signerName, wanted, spec.usages) !== undefined) return undefined;
  if (spec.username === wanted.commonName && authorize(permission(spec, 'selfnodeclient')).allowed) {
    return 'Auto approving self kubelet client certificate after SubjectAccessReview.';
  }
  if (authorize(permission(spec, 'nodeclient')).allowed) {
    return 'Auto approving kubelet client certificate after SubjectAccessReview.';
  }
  return undefined;
};

export const certificateApprover: Controller = csrController('certificate-approver', (api, resource, csr) => {
  if (isApproved(csr) || statusOf(csr)['certificate'] !== undefined) return;
  const message = approvalMessage(specOf(csr), api.authorize);
  if (message === undefined) return;
  const approved = copy(csr);
  const condition = { type: 'Approved', status: 'True', reason: 'AutoApproved', message };
  approved['status'] = { ...statusOf(csr), conditions: [...conditionsOf(csr), condition] };
  api.updateSubresource(resource, 'approval', '', approved, controllerManager);
});

/** The requested duration, between ten minutes and a year. */
export const certificateSeconds = (requested: number | undefined): number =>
  Math.max(600, Math.min(requested ?? yearSeconds, yearSeconds));

/** The signer's part of the status: a certificate, or why there is none. */
const signature = async (csr: KubeObject, identity: ClusterPki): Promise<Record<string, unknown>> => {
  const { signerName, request, usages, expirationSeconds } = specOf(csr);
  const failed = (message: string): Record<string, unknown> => ({
    conditions: [...conditionsOf(csr), { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message }],
  });
  const problem = signerProblem(signerName, parseCertificateRequest(request), usages);
  if (problem !== undefined) return failed(problem);
  try {
    const certificate = await identity.sign(request, usages, certificateSeconds(expirationSeconds));
    return { certificate: Buffer.from(certificate).toString('base64') };
  } catch {
    return failed('the public key of the request is of a kind that this signer does not know');
  }
};

/** Signs approved requests, or reports why it cannot sign. */
export const certificateSigner = (identity: ClusterPki): Controller =>
  csrController('certificate-signer', async (api, resource, csr) => {
    const done = statusOf(csr)['certificate'] !== undefined || hasCondition(csr, 'Failed');
    if (done || !hasCondition(csr, 'Approved') || !servedSigners.includes(specOf(csr).signerName)) return;
    const signed = { ...copy(csr), status: { ...statusOf(csr), ...(await signature(csr, identity)) } };
    api.updateStatus(resource, '', signed, controllerManager);
  });
