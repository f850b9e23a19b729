import { type ExternalControlPlane, externalControlPlane, secretNames } from '@tartan/api';
import {
  type Controller,
  createController,
  done,
  errorMessage,
  fromInformer,
  getCondition,
  type Informer,
  keyOf,
  type Live,
  type Reconciler,
  type ReconcileResult,
  requeueAfter,
  requeueOnConflict,
  type Source,
} from '@tartan/kube';
import {
  blockMove,
  clusterMemberSources,
  decide as decideWhether,
  observe as observeOwner,
  ownerClusterOf,
  writeStatus,
} from '../cluster/member.ts';
import type { Cache, ControllerDeps, Informers, SecretObject } from '../controller-deps.ts';
import type { controlPlaneIndexes } from '../indexes.ts';
import { disownSecret, writeKubeconfig } from './act.ts';
import { decide } from './decide.ts';
import { type KubeconfigDeps, observe } from './observe.ts';
import { disownedEvent, failedEvent, type Finding, mintedEvent, pausedStatus, statusOf } from './status.ts';

interface ControlPlaneOptions
  extends ControllerDeps,
    Pick<Informers, 'clusters'>,
    Omit<KubeconfigDeps, keyof ControllerDeps | 'lifeMs' | 'lookAgainMs'> {
  controlPlanes: Cache<ExternalControlPlane, keyof typeof controlPlaneIndexes>;
  /** Those with the label `cluster.x-k8s.io/cluster-name` suffice. They trigger reconciles and are never read from this cache. */
  secrets: Pick<Informer<SecretObject>, 'subscribe'>;
  /** Requested lifetime of a token. Default: a day; the server may grant less. */
  lifeMs?: number;
  /** How often the address and the ServiceAccount are checked. Default: 10 min. */
  lookAgainMs?: number;
}

/**
 * Reports that the control plane is up and externally managed, and maintains the kubeconfig with which core connects.
 * Needs: list, watch of externalcontrolplanes and of clusters; patch of externalcontrolplanes and of their status, and update of its
 * /finalizers where the server requires that for owner references; get, list, watch, create, update, patch, delete of secrets; create,
 * patch of events; and what `address` needs. Also get of serviceaccounts and create of serviceaccounts/token, for the name `capi-remote`
 * only: otherwise a user who may write an ExternalControlPlane could act as any ServiceAccount of its namespace.
 */
export const createControlPlaneController = (options: ControlPlaneOptions): Controller => {
  const { client, controlPlanes, clusters, events, clock } = options;
  const { lifeMs = 24 * 3_600_000, lookAgainMs = 10 * 60_000 } = options;
  const parts = { ...options, lifeMs, lookAgainMs };

  const reconcile: Reconciler = async (key, signal) => {
    const controlPlane = controlPlanes.get(key);
    const cluster = controlPlane && ownerClusterOf(controlPlane)?.name;
    if (!controlPlane || !cluster) return done;
    const ownerDecision = decideWhether(observeOwner(clusters, controlPlane));
    if (ownerDecision.kind === 'skip') return done;
    const reportStatus = (status: Parameters<typeof writeStatus<ExternalControlPlane>>[3]): Promise<ReconcileResult> =>
      writeStatus(client, externalControlPlane.resource, controlPlane, status, signal);
    if (ownerDecision.kind === 'pause') return reportStatus(pausedStatus(controlPlane, ownerDecision.why, clock.now()));
    if (ownerDecision.kind === 'block move')
      return blockMove(client, externalControlPlane.resource, controlPlane, signal);
    const { finding, outcome } = await reconcileKubeconfig(parts, controlPlane, cluster, signal);
    if (!finding) return outcome;
    if (finding.reason === 'MintFailed' && !isAlreadyReported(controlPlane, finding))
      events.event(controlPlane, failedEvent(finding.message ?? ''));
    await reportStatus(statusOf(controlPlane, finding, clock.now()));
    return outcome;
  };

  return createController({
    ...options,
    name: 'control-plane',
    reconcile: requeueOnConflict(reconcile),
    sources: [...clusterMemberSources(controlPlanes, clusters), kubeconfigSecretSource(options)],
  });
};

/** An event reports a change; the condition reports what lasts. */
const isAlreadyReported = ({ status }: ExternalControlPlane, { reason }: Finding): boolean =>
  getCondition(status?.conditions, 'KubeconfigReady')?.reason === reason;

/** By name, since a Secret that a user created has another owner or none, and its deletion matters. */
const kubeconfigSecretSource = ({
  secrets,
  controlPlanes,
}: Pick<ControlPlaneOptions, 'secrets' | 'controlPlanes'>): Source =>
  fromInformer(secrets, ({ metadata: { namespace, name } }) =>
    controlPlanes
      .byIndex('kubeconfig', keyOf({ namespace: namespace ?? '', name }))
      .map(({ metadata }) => keyOf(metadata)),
  );

/** The finding for the status, and the requeue. Without a finding the Secret changed meanwhile, and the status stays. */
interface KubeconfigResult {
  finding?: Finding;
  outcome: ReconcileResult;
}

/** After a write by us or others: read the result. */
const recheckMs = 1000;

/** An error whose message is redacted. It has no cause, since that could contain a token. */
class KubeconfigError extends Error {
  constructor(text: string) {
    super(text);
    this.name = 'KubeconfigError';
  }
}

/** One reconcile of the kubeconfig of a control plane that is not paused. */
export const reconcileKubeconfig = async (
  deps: KubeconfigDeps,
  controlPlane: Live<ExternalControlPlane>,
  cluster: string,
  signal: AbortSignal,
): Promise<KubeconfigResult> => {
  const { redactor, lookAgainMs, log, events } = deps;
  const { snapshot, secret, problem } = await observe(deps, controlPlane, cluster, signal);
  const decision = decide(snapshot);
  const { connects } = decision;
  const kept = snapshot.secret?.controller === 'other' ? undefined : snapshot.secret?.tokenMetadata;
  const expires = kept && { expiresAt: kept.expiresAt };
  const failure = (error: unknown): KubeconfigResult => {
    const message = redactor.text(errorMessage(error));
    return {
      finding: { reason: 'MintFailed', message, connects, ...expires },
      outcome: { kind: 'failed', error: new KubeconfigError(message) },
    };
  };
  const subject = { controlPlane, cluster, secret };
  const name = secretNames.kubeconfig(cluster);
  const theirs: Finding = { reason: snapshot.mode === 'Provided' && connects ? 'Provided' : 'NotOurs', connects };
  switch (decision.kind) {
    case 'skip':
      return { finding: theirs, outcome: requeueAfter(lookAgainMs) };
    case 'disown':
      if ((await disownSecret(deps, subject, signal)) === undefined) return { outcome: requeueAfter(recheckMs) };
      log.info('Left the kubeconfig to who wrote it', { cluster, secretName: name });
      events.event(controlPlane, disownedEvent(name));
      return { finding: theirs, outcome: requeueAfter(recheckMs) };
    case 'blocked':
      if (decision.reason === 'noTarget') return failure(problem);
      return { finding: { reason: 'ServiceAccountMissing', connects, ...expires }, outcome: requeueAfter(lookAgainMs) };
    case 'keep':
      return { finding: { reason: 'Minted', connects, ...expires }, outcome: requeueAfter(decision.forMs) };
    case 'write':
      try {
        const expiresAt = await writeKubeconfig(deps, subject, decision, signal);
        if (expiresAt === undefined) return { outcome: requeueAfter(recheckMs) };
        log.info('Wrote a kubeconfig for Cluster API', { cluster, secretName: name, reason: decision.reason });
        events.event(controlPlane, mintedEvent(name, decision.reason, expiresAt));
        return { finding: { reason: 'Minted', connects: true, expiresAt }, outcome: requeueAfter(recheckMs) };
      } catch (error) {
        signal.throwIfAborted();
        return failure(error);
      }
  }
};
