import { buildCondition, cluster, type ScalewayAppleSiliconCluster } from '@tartan/api';
import {
  type Condition,
  type ConditionUpdate,
  type Controller,
  createController,
  done,
  type Live,
  requeueOnConflict,
  setConditions,
} from '@tartan/kube';
import type { Cache, ControllerDeps, Informers } from '../controller-deps.ts';
import { blockMove, clusterMemberSources, decide, type Decision, observe, writeStatus } from './member.ts';

interface ClusterControllerOptions extends ControllerDeps, Pick<Informers, 'clusters'> {
  readonly infrastructureClusters: Cache<ScalewayAppleSiliconCluster>;
}

/**
 * Tells Cluster API that there is no infrastructure to wait for. No finalizer: there is nothing to clean up.
 * Needs: list, watch of scalewayapplesiliconclusters and of clusters; patch of scalewayapplesiliconclusters and of their status.
 */
export const createClusterController = (options: ClusterControllerOptions): Controller => {
  const { client, infrastructureClusters, clusters, clock, log } = options;
  return createController({
    ...options,
    name: 'cluster',
    reconcile: requeueOnConflict(async (key, signal) => {
      const object = infrastructureClusters.get(key);
      if (!object) return done;
      const decision = decide(observe(clusters, object));
      log.debug('Looked at the infrastructure of a Cluster', { key, decision });
      if (decision.kind === 'block move') return blockMove(client, cluster.resource, object, signal);
      return writeStatus(client, cluster.resource, object, statusOf(object, decision, clock.now()), signal);
    }),
    sources: clusterMemberSources(infrastructureClusters, clusters),
  });
};

type Status = NonNullable<ScalewayAppleSiliconCluster['status']>;

/** Undefined: the status stays. While paused, only the condition Paused is written. */
const statusOf = (
  { metadata, status = {} }: Live<ScalewayAppleSiliconCluster>,
  decision: Decision,
  now: number,
): Status | undefined => {
  const { generation } = metadata;
  const withConditions = (...updates: ConditionUpdate[]): { conditions: readonly Condition[] } => ({
    conditions: setConditions(status.conditions, updates, generation, now),
  });
  switch (decision.kind) {
    case 'skip':
    case 'block move':
      return undefined;
    case 'pause':
      return {
        ...status,
        ...withConditions(buildCondition('ScalewayAppleSiliconCluster', 'Paused', 'Paused', decision.why)),
      };
    case 'proceed':
      return {
        ...status,
        ready: true,
        initialization: { provisioned: true },
        ...(generation !== undefined && { observedGeneration: generation }),
        ...withConditions(
          buildCondition('ScalewayAppleSiliconCluster', 'Ready', 'Provisioned'),
          buildCondition('ScalewayAppleSiliconCluster', 'Paused', 'NotPaused'),
          buildCondition('ScalewayAppleSiliconCluster', 'MoveBlocked', 'MacsAreNodesHere'),
        ),
      };
  }
};
