import {
  type Controller,
  type ControllerOptions,
  createController,
  nameOf,
  type Reconcile,
  type Resource,
  settled,
  type WatchCache,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { CoreMachineDeployment } from '../core/machine-deployment.ts';
import { type Actor, carryOn, createFleet, deleteFleet } from './act.ts';
import { decide } from './decide.ts';
import { type Node, type Observer, observe } from './observe.ts';
import { type FleetCaches, fleetSources } from './sources.ts';

export interface FleetControllerOptions extends Actor, FleetCaches {
  nodes: Pick<WatchCache<Node>, 'get' | 'subscribe'>;
  machineDeployments?: Pick<WatchCache<CoreMachineDeployment>, 'list' | 'subscribe'> | undefined;
  machineDeploymentResource: Resource<CoreMachineDeployment>;
  revisionOf: Observer['revisionOf'];
  releaseID: Observer['releaseID'];
  /** After what time a stop is lifted, and who has refused is tried again: `update.retryAfterMs`. Undefined: never. */
  retryAfterMs: number | undefined;
  clock: Clock;
  metrics?: ControllerOptions['metrics'];
  /** 2 min unless told: a push that found nobody is tried again after one. */
  unreachableMs?: number;
  /** 30 min unless told. */
  longestTurnMs?: number;
  /** 15 min unless told. */
  passAgainMs?: number;
}

const minute = 60_000;

/**
 * Decides who may be rolled, for a whole fleet in one place (I-48). Keys are `namespace/fleet`.
 * Needs: get, list, watch, create, delete of macfleets and patch of macfleets/status; list, watch of
 * scalewayapplesiliconmachines, nodes and machinedeployments; patch of machinedeployments; create, patch of events.
 */
export const createFleetController = (options: FleetControllerOptions): Controller => {
  const { clock, log, metrics, retryAfterMs } = options;
  const { unreachableMs = 2 * minute, longestTurnMs = 30 * minute, passAgainMs = 15 * minute } = options;
  const observer: Observer = { ...options, limits: { retryAfterMs, unreachableMs, longestTurnMs, passAgainMs } };

  const reconcile: Reconcile = async (key, signal) => {
    const name = nameOf(key);
    const { fleet, deployment, snapshot } = await observe(observer, name, signal);
    const decision = decide(snapshot);
    log.debug('Looked at a fleet', { key, decision });
    switch (decision.kind) {
      case 'leave':
        return settled;
      case 'create':
        return createFleet(options, name, signal);
      case 'delete':
        return fleet ? deleteFleet(options, fleet, signal) : settled;
      case 'roll':
        return fleet ? carryOn(options, { fleet, deployment, snapshot }, decision, signal) : settled;
    }
  };

  return createController({
    name: 'fleet',
    reconcile,
    sources: fleetSources(options),
    clock,
    log,
    ...(metrics && { metrics }),
  });
};
