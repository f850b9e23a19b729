import { type Controller, createSubresources } from '@tartan/kube';
import { createClusterController } from '../cluster/controller.ts';
import { coreClusters } from '../cluster/core-cluster.ts';
import { createControlPlaneController } from '../control-plane/controller.ts';
import { serviceAddress } from '../control-plane/service-address.ts';
import { createApprover, createServingApprover } from '../identity/index.ts';
import { coreMachines } from '../core/machine.ts';
import { createPodRelease } from '../pods/controller.ts';
import { createPodReaper } from '../pods/reap/controller.ts';
import { createFleetSpread } from '../spread/controller.ts';
import { createVmStartTaint } from '../vm-start-taint/controller.ts';
import type { Wiring } from './controllers.ts';
import { machineOf } from './machine-of.ts';
import { placeOf } from './place-of.ts';

/** What is looked after in Kubernetes alone: what Cluster API waits for, who may be a Node, and Pods of Macs. */
export const clusterControllers = (wiring: Wiring): readonly Controller[] => {
  const { parts, caches, coreVersion, client, transport, events, metrics } = wiring;
  const { options, clock, log, redactor } = parts;
  const common = { client, clock, log, events, metrics };
  const subresources = createSubresources(transport, { clock });

  const judging = {
    ...common,
    subresources,
    machineOf: machineOf(client, coreClusters(coreVersion), options.machineNamespaces),
  };

  const spread = createFleetSpread({ ...common, deployment: options.fleetSpread, nodes: caches.nodes });
  return [
    createClusterController({ ...common, ...caches }),
    createControlPlaneController({
      ...common,
      ...caches,
      secrets: caches.kubeconfigs,
      tokens: subresources,
      redactor,
      address: (call) => serviceAddress(client, call),
      ca: parts.ca ?? '',
    }),
    createApprover({ ...judging, requests: caches.certificateRequests }),
    createServingApprover({
      ...judging,
      requests: caches.servingRequests,
      placeOf: placeOf(client, { tailnet: parts.settings.tailscale !== undefined }),
    }),
    createPodRelease({ ...common, ...caches, count: metrics.podReleased }),
    createPodReaper({ ...common, ...caches, coreMachines: coreMachines(coreVersion), count: metrics.podReaped }),
    createVmStartTaint({ ...common, nodes: caches.nodes }),
    ...(spread ? [spread] : []),
  ];
};
