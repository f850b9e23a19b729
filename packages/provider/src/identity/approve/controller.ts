import {
  type Controller,
  type ControllerOptions,
  createController,
  fromCache,
  itsOwnKey,
  settled,
  type WatchCache,
} from '@tartan/kube';
import type { CertificateRequest } from '../issued-identity.ts';
import { kubeletClientSigner } from '../names.ts';
import { act, type ActOptions } from './act.ts';
import { decide } from './decide.ts';
import { type MachineOf, observe } from './observe.ts';

/** Which certificate requests the cache of the approver has to hold. */
export const approvableRequests = { fieldSelector: `spec.signerName=${kubeletClientSigner}` } as const;

export interface ApproverOptions extends Pick<ControllerOptions, 'clock' | 'metrics' | 'workers'> {
  /** Of `certificateSigningRequests`, at least `approvableRequests`. */
  readonly requests: Pick<WatchCache<CertificateRequest>, 'get' | 'subscribe'>;
  readonly subresources: ActOptions['subresources'];
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
    sources: [fromCache(requests, itsOwnKey)],
    reconcile: async (key, signal) => {
      const request = requests.get(key);
      if (request === undefined) return settled;
      const snapshot = await observe(request, { machineOf, now: clock.now(), signal });
      return act(request, decide(snapshot), { subresources, log, signal });
    },
    clock,
    log,
    ...(metrics && { metrics }),
    ...(workers !== undefined && { workers }),
  });
};
