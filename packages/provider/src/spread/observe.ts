import { annotations } from '@tartan/api';
import { type Client, deployments, ignoreNotFound, type Live, type ObjectName } from '@tartan/kube';
import type { Listers } from '../controller-deps.ts';
import type { DeploymentFacts, Snapshot } from './decide.ts';
import { matchesLabels, readyMacLabels, type ReadyMacTracker } from './ready-macs.ts';

export type Deployment = NonNullable<(typeof deployments)['ofType']>;

interface ObserveDeps extends Pick<Listers, 'nodes'> {
  /** Read by name and never listed: the rights may be those on one Deployment. */
  client: Pick<Client, 'get'>;
  flips: ReadyMacTracker;
  settleMs: number;
  lookAgainMs: number;
}

interface Observation {
  deployment: Live<Deployment> | undefined;
  snapshot: Snapshot;
}

/** The Deployment first: which Macs matter is for its Pods' nodeSelector to say, so that a sibling fleet changes nothing. */
export const observe = async (
  { client, nodes, flips, settleMs, lookAgainMs }: ObserveDeps,
  name: ObjectName,
  signal: AbortSignal,
): Promise<Observation> => {
  const deployment = await ignoreNotFound(client.get(deployments, name, { signal }));
  const selector = deployment?.spec?.template.spec?.nodeSelector ?? {};
  const ready = nodes.list().filter((node) => {
    const labels = readyMacLabels(node);
    return labels !== undefined && matchesLabels(labels, selector);
  });
  return {
    deployment,
    snapshot: {
      deployment: deployment && factsOf(deployment),
      ready: ready.map(({ metadata }) => metadata.name).sort(),
      stableForMs: flips.stableForMs(selector),
      settleMs,
      lookAgainMs,
    },
  };
};

/** The server leaves out numbers that are zero, and defaults `replicas` to one. */
const factsOf = ({ metadata, spec, status }: Live<Deployment>): DeploymentFacts => ({
  deleting: metadata.deletionTimestamp !== undefined,
  paused: spec?.paused ?? false,
  hash: spec?.template.metadata?.annotations?.[annotations.fleetHash],
  observed: (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0),
  desired: spec?.replicas ?? 1,
  replicas: status?.replicas ?? 0,
  updated: status?.updatedReplicas ?? 0,
  available: status?.availableReplicas ?? 0,
  unavailable: status?.unavailableReplicas ?? 0,
});
