import { randomBytes } from 'node:crypto';
import type { Controller } from '@tartan/kube';
import { createBuilderRunners } from '../builder-runners/create-builder-runners.ts';
import { coreClusters } from '../cluster/core-cluster.ts';
import { coreMachineDeployments } from '../core/machine-deployment.ts';
import { createFleetController } from '../fleet/controller.ts';
import { createFleetKeys } from '../fleet-key/controller.ts';
import { createHostWork } from '../host-work/create-host-work.ts';
import { clusterAddress } from '../identity/index.ts';
import { createInventory } from '../inventory/controller.ts';
import { createSightings } from '../inventory/create-sightings.ts';
import { createMacHostController } from '../mac-host/controller.ts';
import { createMachineController } from '../machine/controller.ts';
import { createSweep } from '../sweep/controller.ts';
import { strandedVerdict } from '../sweep/verdict.ts';
import type { Wiring } from './controllers.ts';
import { fleetRevisionOf } from './fleet-revision-of.ts';

/** What is looked after at Scaleway and on Macs: the pool, machines, and their fleets. */
export const hostControllers = (wiring: Wiring): readonly Controller[] => {
  const { parts, intervals, caches, coreVersion, client, events, metrics, gate } = wiring;
  const { options, settings, pool, clock, random, log, redactor, ca } = parts;
  const { defaultPoolPrefix, allowedPoolPrefixes, secretsNamespace, sweep, update, apiServerURL } = options;
  const common = { client, pool, clock, log, events, metrics, ...caches, coreClusters: coreClusters(coreVersion) };
  const sightings = createSightings({ clock });
  const policy = { claimNamePrefix: sweep.reclaim?.claimNamePrefix, defaultPoolPrefix };
  const fleetKeys = createFleetKeys({ ...common, secretsNamespace, redactor });

  return [
    createInventory({
      ...common,
      sightings,
      zones: sweep.zones,
      defaultPoolPrefix,
      allowedPoolPrefixes,
      listFailed: metrics.zoneListFailed,
      intervalMs: intervals.inventoryMs,
    }),
    createMacHostController({
      ...common,
      gate,
      sightings,
      defaultPoolPrefix,
      allowedPoolPrefixes,
      judgeStranded: (host, now) => strandedVerdict(host, policy, now),
      random,
      limits: intervals.hosts,
    }),
    createSweep({ ...common, gate, policy, figures: metrics.sweep, intervalMs: sweep.intervalMs }),
    fleetKeys.controller,
    createMachineController({
      ...common,
      options,
      settings,
      fleetKeys,
      gate,
      hostWork: parts.hostWork ?? createHostWork({ clock }),
      address: (call) => clusterAddress(client, { ...call, apiServerURL, ca }),
      builderRunners: createBuilderRunners({ client, clock, redactor, apiURL: options.githubAPIURL }),
      randomBytes,
      redactor,
    }),
    createFleetController({
      ...common,
      machineDeploymentResource: coreMachineDeployments(coreVersion),
      revisionOf: fleetRevisionOf(client, settings, secretsNamespace),
      releaseID: options.releaseID,
      retryAfterMs: update.retryAfterMs,
    }),
  ];
};
