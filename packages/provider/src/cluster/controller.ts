import { cluster, type ScalewayAppleSiliconCluster } from '@tartan/api';
import {
  type Client,
  type Controller,
  type ControllerOptions,
  createController,
  type Logger,
  settled,
  type WatchCache,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { blockMove, report } from './act.ts';
import { decide } from './decide.ts';
import { type Clusters, observe } from './observe.ts';
import { partsOfClusters } from './sources.ts';
import { statusOf } from './status.ts';

export interface ClusterControllerOptions {
  client: Client;
  infrastructureClusters: WatchCache<ScalewayAppleSiliconCluster>;
  /** Cluster API's own: see `coreClusters`. */
  clusters: Clusters;
  clock: Clock;
  log: Logger;
  metrics?: ControllerOptions['metrics'];
}

/**
 * Tells Cluster API that there is no infrastructure to wait for. No finalizer: nothing has to be taken down.
 * Needs: list, watch of scalewayapplesiliconclusters and of clusters; patch of scalewayapplesiliconclusters and of their status.
 */
export const createClusterController = (options: ClusterControllerOptions): Controller => {
  const { client, infrastructureClusters, clusters, clock, log, metrics } = options;
  return createController({
    name: 'cluster',
    reconcile: async (key, signal) => {
      const object = infrastructureClusters.get(key);
      if (!object) return settled;
      const decision = decide(observe(clusters, object));
      log.debug('Looked at the infrastructure of a Cluster', { key, decision });
      if (decision.kind === 'block move') return blockMove(client, cluster.resource, object, signal);
      return report(client, cluster.resource, object, statusOf(object, decision, clock.now()), signal);
    },
    sources: partsOfClusters(infrastructureClusters, clusters),
    clock,
    log,
    ...(metrics && { metrics }),
  });
};
