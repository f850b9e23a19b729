import type { Api } from '../api/api.ts';
import type { Attributes } from '../auth/authorizer.ts';
import { parseCertificateRequest } from '../auth/certificate-request.ts';
import type { Identity } from '../auth/identity.ts';
import { controllerManager } from '../auth/user.ts';
import { conditionsOf, hasCondition, statusOf } from '../kinds/certificate-conditions.ts';
import { type CertificateSigningRequestSpec, specOf } from '../kinds/certificatesigningrequests.ts';
import { copy, type KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { ApiError } from '../status/api-error.ts';
import type { Controller } from './controller.ts';
import { servedSigners, signerProblem } from './signers.ts';

const group = 'certificates.k8s.io';
const plural = 'certificatesigningrequests';
const yearSeconds = 365 * 24 * 3600;

type Reconcile = (api: Api, resource: Resource, csr: KubeObject) => void | Promise<void>;

/**
 * Calls `reconcile` for every request that is there and for every one that changes, after the write that changed it. A write that
 * lost a race needs no second try: whoever won it caused another call.
 */
const watching = (name: string, reconcile: Reconcile): Controller => ({
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

const decided = (csr: KubeObject): boolean => hasCondition(csr, 'Approved');

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
 * Why a request for a client certificate in the name of a node is approved: a node asks for itself, or somebody who may become
 * one. What does not look like such a request is never approved here, whatever the authorizer allows.
 */
const approvalMessage = (spec: CertificateSigningRequestSpec, authorize: Api['authorize']): string | undefined => {
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

export const certificateApprover: Controller = watching('certificate-approver', (api, resource, csr) => {
  if (decided(csr) || statusOf(csr)['certificate'] !== undefined) return;
  const message = approvalMessage(specOf(csr), api.authorize);
  if (message === undefined) return;
  const approved = copy(csr);
  const condition = { type: 'Approved', status: 'True', reason: 'AutoApproved', message };
  approved['status'] = { ...statusOf(csr), conditions: [...conditionsOf(csr), condition] };
  api.updateSubresource(resource, 'approval', '', approved, controllerManager);
});

/** What was asked for, but no longer than a year and no shorter than ten minutes. */
export const certificateSeconds = (requested: number | undefined): number =>
  Math.max(600, Math.min(requested ?? yearSeconds, yearSeconds));

/** What the signer adds to the status: a certificate, or why there is none. */
const signature = async (csr: KubeObject, identity: Identity): Promise<Record<string, unknown>> => {
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

/** Signs what somebody approved, or says why it cannot be signed. */
export const certificateSigner = (identity: Identity): Controller =>
  watching('certificate-signer', async (api, resource, csr) => {
    const done = statusOf(csr)['certificate'] !== undefined || hasCondition(csr, 'Failed');
    if (done || !hasCondition(csr, 'Approved') || !servedSigners.includes(specOf(csr).signerName)) return;
    const signed = { ...copy(csr), status: { ...statusOf(csr), ...(await signature(csr, identity)) } };
    api.updateStatus(resource, '', signed, controllerManager);
  });
