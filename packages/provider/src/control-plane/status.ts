import { buildCondition, buildEvent, type ConditionReason, type ExternalControlPlane } from '@tartan/api';
import { type Condition, type ConditionUpdate, type EventInput, type Live, setConditions } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { omitUndefined } from '../omit-undefined.ts';
import type { Staleness } from './decide.ts';

const kind = 'ExternalControlPlane';
type Status = NonNullable<ExternalControlPlane['status']>;

/** The result of a pass for the status. */
export interface Finding {
  reason: ConditionReason<typeof kind, 'KubeconfigReady'>;
  message?: string;
  /** Whether core can connect now. */
  connects: boolean;
  /** Expiry of a token that we minted. */
  expiresAt?: number;
}

const withConditions = (
  { metadata, status }: Live<ExternalControlPlane>,
  now: number,
  updates: readonly ConditionUpdate[],
): readonly Condition[] => setConditions(status?.conditions, updates, metadata.generation, now);

export const pausedStatus = (controlPlane: Live<ExternalControlPlane>, why: string, now: number): Status => ({
  ...controlPlane.status,
  conditions: withConditions(controlPlane, now, [buildCondition(kind, 'Paused', 'Paused', why)]),
});

/**
 * The control plane is initialized: its API server is the one that stores this status. Without `externalManagedControlPlane` core would
 * neither drain nor delete Nodes.
 */
export const statusOf = (controlPlane: Live<ExternalControlPlane>, finding: Finding, now: number): Status => {
  const { reason, message, connects, expiresAt } = finding;
  const theirs =
    reason === 'NotOurs' || reason === 'Provided'
      ? 'It does, by a kubeconfig that somebody else looks after.'
      : undefined;
  return omitUndefined({
    ...controlPlane.status,
    initialization: { controlPlaneInitialized: true },
    initialized: true,
    ready: connects,
    externalManagedControlPlane: true,
    kubeconfigExpires: expiresAt === undefined ? undefined : timestamp(expiresAt),
    observedGeneration: controlPlane.metadata.generation,
    conditions: withConditions(controlPlane, now, [
      connects
        ? buildCondition(kind, 'Available', 'Available', theirs)
        : buildCondition(kind, 'Available', 'KubeconfigMissing'),
      connects ? buildCondition(kind, 'Ready', 'Available') : buildCondition(kind, 'Ready', 'KubeconfigMissing'),
      buildCondition(kind, 'KubeconfigReady', reason, message),
      buildCondition(kind, 'Paused', 'NotPaused'),
      buildCondition(kind, 'MoveBlocked', 'MacsAreNodesHere'),
    ]),
  });
};

const stalenessMessages: Readonly<Record<Staleness, string>> = {
  missing: 'there was none',
  damaged: 'what was there is not what was written',
  unowned: 'nobody owned the old one',
  otherTarget: 'the address or the authority of the API server has changed',
  otherAccount: 'the ServiceAccount is another one',
  implausible: 'the times kept with the old one cannot be right',
  due: 'two thirds of the life of the old one are over',
};

export const mintedEvent = (secret: string, reason: Staleness, expiresAt: number): EventInput =>
  buildEvent(
    'KubeconfigMinted',
    `The Secret ${secret} has a new token, good until ${timestamp(expiresAt)}, as ${stalenessMessages[reason]}.`,
  );

export const disownedEvent = (secret: string): EventInput =>
  buildEvent('KubeconfigReleased', `Somebody else has written the Secret ${secret}, and it is theirs from now on.`);

export const failedEvent = (message: string): EventInput => buildEvent('KubeconfigFailed', message);
