import {
  type Controller,
  type ControllerOptions,
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
import type { CertificateRequest } from '../decide-join.ts';
import { kubeletClientSigner, kubeletServingSigner } from '../names.ts';
import { decideClient } from './decide-client.ts';
import { decideServing, type MacAddressesOf } from './decide-serving.ts';
import { type MachineOf, observeRequest, observeServing } from './observe.ts';

/** Which certificate requests the cache of the approver has to hold. */
export const clientRequests = { fieldSelector: `spec.signerName=${kubeletClientSigner}` } as const;

export interface ApproverOptions extends Pick<ControllerOptions, 'clock' | 'metrics' | 'workers'> {
  /** Of `certificateSigningRequests`, at least `clientRequests`. */
  readonly requests: Pick<Informer<CertificateRequest>, 'get' | 'subscribe'>;
  readonly subresources: ActDeps['subresources'];
  readonly machineOf: MachineOf;
  readonly log: ControllerOptions['log'];
}

/**
 * Approves certificate requests of Macs for the Nodes of their own machines, and denies what only looks like it.
 *
 * Caveat: where `system:nodes` may create `certificatesigningrequests/selfnodeclient` (kubeadm sets that up), the controller manager
 * approves renewals of every Node by itself and may be faster. The Mac of a deleted machine is then kept out by the wipe that every
 * release begins with, not by us.
 */
export const createApprover = (options: ApproverOptions): Controller => {
  const { requests, subresources, machineOf, clock, metrics, workers, log } = options;
  return createController({
    name: 'node-identity',
    sources: [fromInformer(requests, requestForObject)],
    reconcile: async (key, signal) => {
      const request = requests.get(key);
      if (request === undefined) return done;
      const snapshot = await observeRequest(request, { machineOf, now: clock.now(), signal });
      return writeVerdict(request, decideClient(snapshot), { subresources, log, signal });
    },
    clock,
    log,
    ...(metrics && { metrics }),
    ...(workers !== undefined && { workers }),
  });
};

/** Which certificate requests the cache of this approver has to hold. */
export const servingRequests = { fieldSelector: `spec.signerName=${kubeletServingSigner}` } as const;

export interface ServingApproverOptions extends Pick<ControllerOptions, 'clock' | 'metrics' | 'workers'> {
  /** Of `certificateSigningRequests`, at least `servingRequests`. */
  readonly requests: Pick<Informer<CertificateRequest>, 'get' | 'subscribe'>;
  readonly subresources: ActDeps['subresources'];
  readonly machineOf: MachineOf;
  readonly placeOf: MacAddressesOf;
  readonly log: ControllerOptions['log'];
}

/**
 * Approves the certificates that Macs serve the kubelet API with, for the addresses of their own machines. Without it the API server
 * cannot tell a Mac from whoever sits at its address: `kubectl logs` and `exec` would trust either.
 */
export const createServingApprover = (options: ServingApproverOptions): Controller => {
  const { requests, subresources, machineOf, placeOf, clock, metrics, workers, log } = options;
  return createController({
    name: 'node-serving',
    sources: [fromInformer(requests, requestForObject)],
    reconcile: async (key, signal) => {
      const request = requests.get(key);
      if (request === undefined) return done;
      const snapshot = await observeServing(request, { machineOf, placeOf, now: clock.now(), signal });
      return writeVerdict(request, decideServing(snapshot), { subresources, log, signal });
    },
    clock,
    log,
    ...(metrics && { metrics }),
    ...(workers !== undefined && { workers }),
  });
};

/** What can be done about a request, whoever decided it and for whatever reason. */
type Verdict =
  | { readonly kind: 'leave' }
  /** What it needs may still come. */
  | { readonly kind: 'wait'; readonly forMs: number }
  | { readonly kind: 'approve' | 'deny'; readonly reason: string; readonly message: string };

interface ActDeps {
  readonly subresources: Pick<Subresources, 'approveCertificate'>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Writes the verdict into the request as it was read. Safe to repeat: a verdict that is there makes the next decision `leave`. Whoever
 * lost a race to another writer has nothing to do: that write brings the request back.
 */
const writeVerdict = async (
  request: Live<CertificateRequest>,
  decision: Verdict,
  { subresources, log, signal }: ActDeps,
): Promise<ReconcileResult> => {
  if (decision.kind === 'leave') return done;
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
