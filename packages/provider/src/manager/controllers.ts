import { randomBytes } from 'node:crypto';
import type { assembleManager, Controller } from '@tartan/kube';
import { inFlow } from '@tartan/scaleway';
import { createClusterController } from '../cluster/controller.ts';
import { createControlPlaneController } from '../control-plane/controller.ts';
import { serviceAddress } from '../control-plane/observe.ts';
import { coreClusters, coreMachineDeployments, coreMachines } from '../core/kinds.ts';
import { createFleetKeys } from '../fleet-key/controller.ts';
import { createFleetController } from '../fleet/controller.ts';
import { createHostWork } from '../host-work/create-host-work.ts';
import { createApprover } from '../identity/csr/controller.ts';
import { clusterAddress } from '../identity/join-kubeconfig.ts';
import { macAddressLookup, machineLookup } from '../identity/machine-lookup.ts';
import { createInventory } from '../inventory/controller.ts';
import { createServerCache } from '../inventory/server-cache.ts';
import { createMacHostController } from '../mac-host/controller.ts';
import type { Limits } from '../mac-host/snapshot.ts';
import { createBuilderRunners } from '../machine/builder-runners.ts';
import { createMachineController } from '../machine/controller.ts';
import { createPodRelease } from '../pods/controller.ts';
import { createPodReaper } from '../pods/reap/controller.ts';
import { createFleetSpread } from '../spread/controller.ts';
import { createSweep } from '../sweep/controller.ts';
import { strandedVerdict } from '../sweep/decide.ts';
import { createVmStartTaint } from '../vm-start-taint/controller.ts';
import type { Caches } from './caches.ts';
import type { CoreVersion } from './core-version.ts';
import type { ProviderDeps } from './create-provider.ts';
import { createFleetRevisions } from './fleet-revisions.ts';
import type { ProviderMetrics } from './provider-metrics.ts';

/** The dependencies of all controllers. */
interface ControllersDeps
  extends Pick<ReturnType<typeof assembleManager>, 'clientFor' | 'subresourcesFor' | 'events' | 'gate'> {
  readonly parts: ProviderDeps;
  /** For changes of servers at Scaleway. */
  readonly hostLimits: Partial<Limits>;
  readonly caches: Caches;
  /** Of Cluster API's kinds. */
  readonly coreVersion: CoreVersion;
  readonly metrics: ProviderMetrics;
}

/** All controllers. They run only on the leader. */
export const createControllers = (deps: ControllersDeps): readonly Controller[] => {
  const { parts, hostLimits, caches, coreVersion, clientFor, subresourcesFor, events, metrics, gate } = deps;
  const { options, settings, pool, clock, random, log, redactor, ca } = parts;
  const { sweep, secretsNamespace, defaultPoolPrefix, allowedPoolPrefixes, machineNamespaces, apiServerURL } = options;
  const shared = { clock, log, events, metrics, ...caches, coreClusters: coreClusters(coreVersion) };
  /** What a controller of that name gets: a thousand due machines do not delay the requests of the others, to Kubernetes and Scaleway. */
  const common = (flow: string) => ({ ...shared, client: clientFor(flow), pool: inFlow(pool, flow) });
  const controlPlane = common('control-plane');
  const identity = common('node-identity');
  const machine = common('machine');
  const fleet = common('fleet');
  const spread = createFleetSpread({ ...common('fleet-spread'), deployment: options.fleetSpread });
  const serverCache = createServerCache({ clock, intervalMs: options.pollIntervals.inventoryMs });
  const policy = { claimNamePrefix: sweep.reclaim?.claimNamePrefix, defaultPoolPrefix };
  const fleetKeys = createFleetKeys({ ...common('fleet-key'), secretsNamespace, redactor });

  return [
    // Kubernetes only: what Cluster API waits for, identities of Nodes, and Pods of Macs.
    createClusterController(common('cluster')),
    createControlPlaneController({
      ...controlPlane,
      secrets: caches.kubeconfigs,
      tokens: subresourcesFor('control-plane'),
      redactor,
      address: (call) => serviceAddress(controlPlane.client, call),
      ca: ca ?? '',
    }),
    createApprover({
      ...identity,
      subresources: subresourcesFor('node-identity'),
      machineOf: machineLookup(identity.client, identity.coreClusters, machineNamespaces),
      macAddressesOf: macAddressLookup(identity.client, { tailnet: settings.tailscale !== undefined }),
      requests: [caches.certificateRequests, caches.servingRequests],
    }),
    createPodRelease({ ...common('pod-release'), count: metrics.podReleased }),
    createPodReaper({ ...common('pod-reaper'), coreMachines: coreMachines(coreVersion), count: metrics.podReaped }),
    createVmStartTaint(common('vm-start-taint')),
    ...(spread ? [spread] : []),

    // Scaleway and Macs: the pool, machines, and their fleets.
    createInventory({
      ...common('inventory'),
      serverCache,
      zones: sweep.zones,
      defaultPoolPrefix,
      allowedPoolPrefixes,
      listFailed: metrics.zoneListFailed,
      intervalMs: options.pollIntervals.inventoryMs,
    }),
    createMacHostController({
      ...common('mac-host'),
      gate,
      serverCache,
      defaultPoolPrefix,
      allowedPoolPrefixes,
      machineNamespaces,
      judgeStranded: (host, now) => strandedVerdict(host, policy, now),
      random,
      limits: hostLimits,
    }),
    createSweep({ ...common('sweep'), gate, policy, figures: metrics.sweep, intervalMs: sweep.intervalMs }),
    fleetKeys.controller,
    createMachineController({
      ...machine,
      options,
      settings,
      fleetKeys,
      gate,
      hostWork: parts.hostWork ?? createHostWork({ clock }),
      address: (call) => clusterAddress(machine.client, { ...call, apiServerURL, ca }),
      builderRunners: createBuilderRunners({ client: machine.client, clock, redactor, apiURL: options.githubAPIURL }),
      randomBytes,
      redactor,
    }),
    createFleetController({
      ...fleet,
      machineDeploymentResource: coreMachineDeployments(coreVersion),
      revisionOf: createFleetRevisions(caches, settings, secretsNamespace),
      releaseID: options.releaseID,
      retryAfterMs: options.update.retryAfterMs,
    }),
  ];
};
