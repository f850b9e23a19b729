import type { MachinePhase, MachineStatus } from '@tartan/api';
import { type ConditionUpdate, setConditions } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { Machine } from '../controller-deps.ts';
import { omitUndefined } from '../omit-undefined.ts';
import { sshAddressOf } from '../host-work/ssh-address.ts';
import { actualHash } from './decide/provisioned.ts';
import { type ActionResult, type Decision, lacksLogin } from './decision.ts';
import { isProvisioned, type Snapshot } from './snapshot.ts';
import { conditionsOf, isHostRunning, pausedCondition } from './status/conditions.ts';

/** The observation, the decision and its result. */
export interface ReconcileResult {
  readonly snapshot: Snapshot;
  readonly decision: Decision;
  readonly result: ActionResult;
  /** Of the Mac, from Scaleway. */
  readonly ip: string | undefined;
  readonly nodeAddresses: NonNullable<MachineStatus['addresses']>;
  /** That of this manager. */
  readonly releaseID: string | undefined;
}

/**
 * What users see of a machine: derived only here, from the observation and the result (INC-354). `persisted` is the status recorded after
 * the action. Idempotent.
 */
export const statusOf = (
  persisted: MachineStatus,
  { metadata }: Machine,
  reconciled: ReconcileResult,
): MachineStatus => {
  const { decision, snapshot } = reconciled;
  const status = { ...withPlanner(persisted, reconciled), ...configHashes(persisted, reconciled) };
  const { generation } = metadata;
  const withConditions = (updates: readonly ConditionUpdate[]) =>
    setConditions(status.conditions, updates, generation, snapshot.now);
  // As everywhere in Cluster API: while paused, only the condition Paused is written.
  if (decision.kind === 'pause') {
    const paused = pausedCondition(decision, snapshot.machine.deleting);
    return { ...persisted, conditions: withConditions([paused]) };
  }
  const updates = conditionsOf(status, snapshot, decision);
  const isWaiting = decision.kind === 'cannot claim' && decision.reason === 'NoAvailableHost';
  const addresses = addressesOf(reconciled);
  return omitUndefined({
    ...status,
    observedGeneration: generation ?? status.observedGeneration,
    addresses: addresses.length > 0 ? addresses : undefined,
    waitingForHostSince: isWaiting ? (status.waitingForHostSince ?? timestamp(snapshot.now)) : undefined,
    ready: updates.some(({ type, status: holds }) => type === 'Ready' && holds === 'True'),
    phase: phaseOf(status, reconciled),
    conditions: withConditions(updates),
  });
};

/** The release of the manager that set `desiredHostConfigHash`. Undefined if that manager has none. */
const withPlanner = (
  persisted: MachineStatus,
  { snapshot: { desired }, releaseID }: ReconcileResult,
): MachineStatus => {
  if (!isProvisioned(persisted) || desired.kind !== 'known') return persisted;
  return omitUndefined({ ...persisted, plannedBy: releaseID });
};

/**
 * The fleet decides by these which machines are outdated. The last pushed hash stays while it is the desired one: an agent that does not
 * start with it never reports it, and the previous agent may still report for a while.
 */
const configHashes = (
  status: MachineStatus,
  { snapshot }: ReconcileResult,
): Pick<MachineStatus, 'hostConfigHash' | 'desiredHostConfigHash'> => {
  if (!isProvisioned(status)) return {};
  const { desired } = snapshot;
  const wanted = desired.kind === 'known' ? desired.hash : undefined;
  const pushed = status.hostConfigHash;
  const { leftOut } = status;
  const isWanted = pushed === wanted || (leftOut?.desired === wanted && leftOut?.actual === pushed);
  const actual = pushed !== undefined && isWanted ? pushed : actualHash(snapshot, status);
  return omitUndefined({ hostConfigHash: actual, desiredHostConfigHash: wanted });
};

type Addresses = NonNullable<MachineStatus['addresses']>;

/** The addresses of the Mac, from Scaleway and from its Node. None if the machine does not hold it. */
const addressesOf = ({ snapshot, ip, nodeAddresses }: ReconcileResult): Addresses => {
  const { host } = snapshot;
  if (host.kind !== 'present' || host.holder !== 'me') return [];
  const publicAddress = ip === undefined ? undefined : sshAddressOf(ip)?.host;
  return [
    ...(publicAddress === undefined ? [] : [{ type: 'ExternalIP' as const, address: publicAddress }]),
    ...nodeAddresses.filter(({ address }) => address !== publicAddress),
  ];
};

/** A summary for users. A refusal stays visible while the Node is Ready, or it would be overlooked (INC-354). */
const phaseOf = (status: MachineStatus, { snapshot, decision }: ReconcileResult): MachinePhase => {
  if (snapshot.machine.deleting) return 'Deleting';
  if (decision.kind === 'lost host') return 'NotReady';
  if (!isProvisioned(status)) return phaseBeforeProvisioned(status, decision);
  const { desired, node, turn } = snapshot;
  const hash = desired.kind === 'known' ? desired.hash : status.desiredHostConfigHash;
  if (status.failedHostConfigHash !== undefined && status.failedHostConfigHash === hash) return 'Failed';
  const outdated = hash !== undefined && status.hostConfigHash !== hash;
  if (decision.kind === 'roll' || decision.kind === 'roll back' || (turn !== undefined && outdated)) return 'Updating';
  return node.kind === 'ours' && node.ready === 'True' && isHostRunning(snapshot.host) ? 'Ready' : 'NotReady';
};

const claiming: ReadonlySet<string> = new Set(['reserve', 'take', 'await host', 'set provider id', 'cannot claim']);

const phaseBeforeProvisioned = (status: MachineStatus, decision: Decision): MachinePhase => {
  if (!status.serverID) return 'Pending';
  return claiming.has(decision.kind) || lacksLogin(decision) ? 'Adopting' : 'Bootstrapping';
};
