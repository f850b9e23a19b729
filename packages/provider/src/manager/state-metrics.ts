import type { ExternalControlPlane, MacFleet, MacHost, ScalewayAppleSiliconMachine } from '@tartan/api';
import { type Live, stateGauges } from '@tartan/kube';
import type { Registry } from 'prom-client';
import type { Node, Pod } from '../pods/observe.ts';
import { measureControlPlanes } from './control-plane-metrics.ts';
import { measureFleets } from './fleet-metrics.ts';
import { measureMachines } from './machine-metrics.ts';
import { measurePods } from './pod-metrics.ts';

/** What is there, as the caches of this process have it. */
export interface FleetState {
  readonly machines: readonly Live<ScalewayAppleSiliconMachine>[];
  readonly hosts: readonly Live<MacHost>[];
  readonly fleets: readonly Live<MacFleet>[];
  readonly controlPlanes: readonly Live<ExternalControlPlane>[];
  readonly pods: readonly Live<Pod>[];
  readonly nodes: readonly Live<Node>[];
  readonly now: number;
}

/**
 * Figures about objects are read off the objects at every scrape instead of being counted along the way: a series cannot outlive its
 * machine, and a new process has them all at once. Told by the leader alone, or sums over replicas would count every Mac twice.
 */
export interface StateMetrics {
  /** `state` answers undefined while this process does not lead: then there is no series. */
  show(state: () => FleetState | undefined): void;
}

export const createStateMetrics = (registry: Registry): StateMetrics => {
  let source: () => FleetState | undefined = () => undefined;
  const gauge = stateGauges(registry, () => source());
  for (const measure of [measureMachines, measureFleets, measurePods, measureControlPlanes]) measure(gauge);
  return {
    show: (state) => {
      source = state;
    },
  };
};
