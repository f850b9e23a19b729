import {
  type Controller,
  createController,
  done,
  fromInformer,
  type Informer,
  isKubeError,
  type Live,
  type Logger,
  type ReconcileResult,
  requestForObject,
  requeueAfter,
  type Subresources,
} from '@tartan/kube';
import type { CertificateRequest, ControllerDeps } from '../../controller-deps.ts';
import { kubeletClientSigner, kubeletServingSigner } from '../names.ts';
import { decide, type Decision } from './decide.ts';
import { observeRequest, type RequestReaders } from './observe.ts';

/** The certificate requests in the approver's caches. A field selector takes one signer. */
export const clientRequests = { fieldSelector: `spec.signerName=${kubeletClientSigner}` } as const;
export const servingRequests = { fieldSelector: `spec.signerName=${kubeletServingSigner}` } as const;

interface ApproverOptions extends RequestReaders, Omit<ControllerDeps, 'client'> {
  /** Of `certificateSigningRequests`: `clientRequests` and `servingRequests`. */
  readonly requests: readonly Pick<Informer<CertificateRequest>, 'get' | 'subscribe'>[];
  readonly subresources: ActDeps['subresources'];
}

/**
 * Approves client certificates of Macs as Nodes, and serving certificates for their kubelet API, for the Nodes and addresses of their own
 * machines, and denies invalid requests. Without serving certificates the API server could not tell a Mac from another machine at its
 * address: `kubectl logs` and `exec` would trust either.
 * Caveat: where `system:nodes` may create `certificatesigningrequests/selfnodeclient` (kubeadm sets that up), the controller manager
 * approves renewals of every Node and may be faster. Then only the wipe at the start of every release keeps out the Mac of a deleted
 * machine.
 */
export const createApprover = (options: ApproverOptions): Controller => {
  const { requests, subresources, machineOf, macAddressesOf, clock, log } = options;
  return createController({
    ...options,
    name: 'node-identity',
    sources: requests.map((cache) => fromInformer(cache, requestForObject)),
    reconcile: async (key, signal) => {
      const request = requests.map((cache) => cache.get(key)).find((found) => found !== undefined);
      if (request === undefined) return done;
      const snapshot = await observeRequest(request, { machineOf, macAddressesOf, now: clock.now(), signal });
      return applyDecision(request, decide(snapshot), { subresources, log, signal });
    },
  });
};

interface ActDeps {
  readonly subresources: Pick<Subresources, 'approveCertificate'>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Writes the verdict, guarded by the version that was read. Idempotent: with a verdict the next decision is `skip`. After a conflict there
 * is nothing to do: the other write triggers again.
 */
const applyDecision = async (
  request: Live<CertificateRequest>,
  decision: Decision,
  { subresources, log, signal }: ActDeps,
): Promise<ReconcileResult> => {
  if (decision.kind === 'skip') return done;
  if (decision.kind === 'wait') return requeueAfter(decision.forMs);
  const { reason, message } = decision;
  const type = decision.kind === 'approve' ? 'Approved' : 'Denied';
  try {
    await subresources.approveCertificate(request, { type, reason, message }, { signal });
  } catch (error) {
    if (isKubeError(error, 'conflict', 'notFound')) return done;
    throw error;
  }
  const { signerName: signer, username: requester } = request.spec;
  const fields = { request: request.metadata.name, requester, signer, reason };
  if (decision.kind === 'approve') log.info('A certificate request is approved', fields);
  else log.warn('A certificate request is denied', fields);
  return done;
};
