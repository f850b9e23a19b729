import { type ExternalControlPlane, externalControlPlane, secretNames } from '@tartan/api';
import {
  type Client,
  type Controller,
  type ControllerOptions,
  createController,
  fromCache,
  getCondition,
  keyOf,
  type Outcome,
  type Reconcile,
  settled,
  type Source,
  type WatchCache,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { blockMove, report } from '../cluster/act.ts';
import { decide as decideWhether } from '../cluster/decide.ts';
import { type Clusters, observe as observeOwner, ownerClusterOf } from '../cluster/observe.ts';
import { partsOfClusters } from '../cluster/sources.ts';
import { type Keeper, lookAfter } from './look-after.ts';
import type { Secret } from './observe.ts';
import { failed, type Finding, pausedStatus, statusOf } from './status.ts';

export interface ControlPlaneOptions extends Omit<Keeper, 'client' | 'clock' | 'lifeMs' | 'lookAgainMs'> {
  client: Client;
  controlPlanes: WatchCache<ExternalControlPlane>;
  /** Cluster API's own: see `coreClusters`. */
  clusters: Clusters;
  /** Those with the label `cluster.x-k8s.io/cluster-name` will do. They wake the controller and are never read from here. */
  secrets: Pick<WatchCache<Secret>, 'subscribe'>;
  clock: Clock;
  metrics?: ControllerOptions['metrics'];
  /** How long a token shall live. A day unless told; the server may grant less. */
  lifeMs?: number;
  /** How often it is looked whether address and ServiceAccount are still the same. 10 min unless told. */
  lookAgainMs?: number;
}

/**
 * Says that the control plane is up and managed elsewhere, and keeps the kubeconfig with which core connects.
 * Needs: list, watch of externalcontrolplanes and of clusters; patch of externalcontrolplanes and of their status, and update of its
 * /finalizers where the server asks that of who makes owner references; get, list, watch, create, update, patch, delete of secrets;
 * create, patch of events; and what `address` needs. Also get of serviceaccounts and create of serviceaccounts/token, for
 * `capi-remote` by its name alone: with more, whoever may write an ExternalControlPlane could be any ServiceAccount beside it.
 */
export const createControlPlaneController = (options: ControlPlaneOptions): Controller => {
  const { client, controlPlanes, clusters, events, clock, log, metrics } = options;
  const { lifeMs = 24 * 3_600_000, lookAgainMs = 10 * 60_000 } = options;
  const parts = { ...options, lifeMs, lookAgainMs };

  const reconcile: Reconcile = async (key, signal) => {
    const controlPlane = controlPlanes.get(key);
    const cluster = controlPlane && ownerClusterOf(controlPlane)?.name;
    if (!controlPlane || !cluster) return settled;
    const whether = decideWhether(observeOwner(clusters, controlPlane));
    if (whether.kind === 'leave') return settled;
    const tell = (status: Parameters<typeof report<ExternalControlPlane>>[3]): Promise<Outcome> =>
      report(client, externalControlPlane.resource, controlPlane, status, signal);
    if (whether.kind === 'pause') return tell(pausedStatus(controlPlane, whether.why, clock.now()));
    if (whether.kind === 'block move') return blockMove(client, externalControlPlane.resource, controlPlane, signal);
    const { finding, outcome } = await lookAfter(parts, controlPlane, cluster, signal);
    if (!finding) return outcome;
    if (finding.reason === 'MintFailed' && !isSaid(controlPlane, finding))
      events.event(controlPlane, failed(finding.message ?? ''));
    const told = await tell(statusOf(controlPlane, finding, clock.now()));
    return told.kind === 'settled' ? outcome : told;
  };

  return createController({
    name: 'control-plane',
    reconcile,
    sources: [...partsOfClusters(controlPlanes, clusters), kubeconfigs(options)],
    clock,
    log,
    ...(metrics && { metrics }),
  });
};

/** An event tells of what is new; what goes on is in the condition. */
const isSaid = ({ status }: ExternalControlPlane, { reason }: Finding): boolean =>
  getCondition(status?.conditions, 'KubeconfigReady')?.reason === reason;

/** By name, since one that somebody else made has another owner, or none, and matters when it goes. */
const kubeconfigs = ({ secrets, controlPlanes }: Pick<ControlPlaneOptions, 'secrets' | 'controlPlanes'>): Source =>
  fromCache(secrets, ({ metadata: { namespace, name } }) =>
    controlPlanes
      .list()
      .filter((controlPlane) => {
        const cluster = ownerClusterOf(controlPlane)?.name;
        return controlPlane.metadata.namespace === namespace && cluster && secretNames.kubeconfig(cluster) === name;
      })
      .map(({ metadata }) => keyOf(metadata)),
  );
