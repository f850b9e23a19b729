import {
  type Controller,
  type ControllerOptions,
  createController,
  fromCache,
  itsOwnKey,
  settled,
  type WatchCache,
} from '@tartan/kube';
import { act, type ActOptions } from '../approve/act.ts';
import type { MachineOf } from '../approve/observe.ts';
import type { CertificateRequest } from '../issued-identity.ts';
import { kubeletServingSigner } from '../names.ts';
import { decide } from './decide.ts';
import { observe } from './observe.ts';
import type { PlaceOf } from './place.ts';

/** Which certificate requests the cache of this approver has to hold. */
export const servingRequests = { fieldSelector: `spec.signerName=${kubeletServingSigner}` } as const;

export interface ServingApproverOptions extends Pick<ControllerOptions, 'clock' | 'metrics' | 'workers'> {
  /** Of `certificateSigningRequests`, at least `servingRequests`. */
  readonly requests: Pick<WatchCache<CertificateRequest>, 'get' | 'subscribe'>;
  readonly subresources: ActOptions['subresources'];
  readonly machineOf: MachineOf;
  readonly placeOf: PlaceOf;
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
    sources: [fromCache(requests, itsOwnKey)],
    reconcile: async (key, signal) => {
      const request = requests.get(key);
      if (request === undefined) return settled;
      const snapshot = await observe(request, { machineOf, placeOf, now: clock.now(), signal });
      return act(request, decide(snapshot), { subresources, log, signal });
    },
    clock,
    log,
    ...(metrics && { metrics }),
    ...(workers !== undefined && { workers }),
  });
};
