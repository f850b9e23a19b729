import type { Client, Controller, EventRecorder, Gate, Transport } from '@tartan/kube';
import type { Caches } from './caches.ts';
import type { CoreVersion } from './core-version.ts';
import { clusterControllers } from './cluster-controllers.ts';
import { hostControllers } from './host-controllers.ts';
import type { Intervals, ProviderParts } from './parts.ts';
import type { ProviderMetrics } from './provider-metrics.ts';

/** What controllers are made of. */
export interface Wiring {
  readonly parts: ProviderParts;
  readonly intervals: Intervals;
  readonly caches: Caches;
  /** Of Cluster API's own kinds. */
  readonly coreVersion: CoreVersion;
  readonly client: Client;
  /** That of the client. */
  readonly transport: Transport;
  readonly events: EventRecorder;
  readonly metrics: ProviderMetrics;
  readonly gate: Gate;
}

/** Every controller there is. All of them run on the leader alone. */
export const createControllers = (wiring: Wiring): readonly Controller[] => [
  ...clusterControllers(wiring),
  ...hostControllers(wiring),
];
