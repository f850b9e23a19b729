import { annotations, finalizers, parseProviderID, secretNames } from '@tartan/api';
import { type Client, hasFinalizer, ignoreNotFound, keyOf, leases, pods } from '@tartan/kube';
import { isVersionedPin } from '@tartan/scaleway';
import { readHost } from '../claim/claim-host.ts';
import { findTurn, fleetNameOf } from '../fleet/turns.ts';
import { isSecretOf, type MachineSecret, readMachineSecret, type SecretClaimant } from '../host-work/secrets.ts';
import { identityIssuedFor } from '../identity/decide-join.ts';
import type { Machine } from '../controller-deps.ts';
import { sshKeyName } from './machine.ts';
import { clusterFacts } from './observe/cluster.ts';
import { choiceForPass, findServer, hostFacts, type HostPlan, hostRequirements, planHost } from './observe/host.ts';
import { isNodeExpected, nodeFacts } from './observe/node.ts';
import { isRunnerIdle, runnerFacts } from './observe/runner.ts';
import type { MachineMemory } from './memory.ts';
import type { MachineControllerOptions } from './options.ts';
import {
  type ChoiceFacts,
  type HostFacts,
  isProvisioned,
  type JoinFacts,
  type LoginFacts,
  type NodeFacts,
  type Snapshot,
} from './snapshot.ts';

type ObserveDeps = Omit<MachineControllerOptions, 'client'> &
  Pick<MachineMemory, 'missingNodes' | 'runnerLastSeen' | 'failedReads' | 'hostOffers'> & {
    readonly client: Pick<Client, 'get' | 'list'>;
  };

/**
 * Observes a machine. The objects that protect from a wrong wipe or overwrite are read by `client`, which is live before any action: the
 * machine (by the caller), its Mac, its Secret. The rest comes from caches, and is read again right before a critical action.
 */
export const observe = async (deps: ObserveDeps, machine: Machine, signal: AbortSignal) => {
  const { client, options, nodes, clock } = deps;
  const { metadata, spec, status = {} } = machine;
  const call = { signal };
  const place = { namespace: options.secretsNamespace, machine: metadata.name };
  const stored = status.serverID || spec.providerID ? await readMachineSecret(client, place, call) : undefined;
  const wanted = hostRequirements(machine, options.defaultPoolPrefix, recordedServer(machine, stored));
  const reserved = status.serverID ? await readHost(client, status.serverID, call) : undefined;
  const host: HostFacts = !status.serverID
    ? { kind: 'none' }
    : reserved === undefined
      ? await findServer(deps, machine, call)
      : hostFacts(reserved, machine);
  const claims = !status.serverID && metadata.deletionTimestamp === undefined;
  const [choice, chosen] = claims ? choiceForPass(deps, machine, wanted) : notAsked;
  const isMine = stored !== undefined && isSecretOf(stored, secretClaimant(deps, machine));
  const login = status.serverID && isMine ? stored : undefined;
  const node = nodes.get(metadata.name);
  const observedNode = nodeFacts(node, machine, deps.missingNodes, reserved ?? chosen);
  const provisioned = isProvisioned(status);
  const plan =
    provisioned && login !== undefined && metadata.deletionTimestamp === undefined
      ? await planHost(deps, machine, { login, joinVersion: status.joinVersion ?? '' }, call)
      : undefined;
  const turn = turnOf(deps, machine, plan);
  const snapshot: Snapshot = {
    now: clock.now(),
    policy: {
      ...options.bootstrap,
      updateGiveUpAfter: options.update.giveUpAfter,
      updateRetryAfterMs: options.update.retryAfterMs,
    },
    machine: {
      name: metadata.name,
      deleting: metadata.deletionTimestamp !== undefined,
      hasFinalizer: hasFinalizer(machine, finalizers.machine),
      blocksMove: annotations.blockMove in (metadata.annotations ?? {}),
      providerID: spec.providerID || undefined,
      versionedPin: isVersionedPin(spec.os),
      poolPrefix: wanted.poolPrefix || undefined,
      allowedPoolPrefixes: options.allowedPoolPrefixes,
      status: status,
    },
    cluster: clusterFacts(machine, deps.clusters, options.machineNamespaces),
    fleetKey: keyFacts(deps, machine),
    choice,
    host,
    login: stored !== undefined && !isMine ? foreignSecret(place) : loginFacts(login, status.serverID),
    failedRead: deps.failedReads.of(machine),
    node: observedNode,
    runner: await runnerFacts(deps, machine, host, signal),
    join: provisioned
      ? await joinFacts(deps, machine, observedNode, signal)
      : { lease: undefined, identity: undefined },
    desired: desiredOf(plan),
    turn: turn && { hash: turn.hash, rollBack: turn.rollBack === true },
    idle: needsIdle(provisioned, turn, observedNode)
      ? (await hasNoRunningPods(deps, metadata.name, signal)) &&
        (!provisioned || (await isRunnerIdle(deps, machine, signal)))
      : undefined,
  };
  return {
    snapshot,
    wanted,
    /** The reserved host from a live read; or the one that would be reserved. */
    host: reserved ?? chosen,
    login,
    node,
    plan,
  };
};

/** The snapshot, and the objects for the action. */
export type Observation = Awaited<ReturnType<typeof observe>>;

/** Updates this process' memory from an observation. */
export const remember = (
  memory: Pick<MachineMemory, 'missingNodes' | 'runnerLastSeen'>,
  machine: Machine,
  { node, runner }: Snapshot,
): void => {
  const { name, uid } = machine.metadata;
  memory.missingNodes.record(name, node.kind === 'missing' && isNodeExpected(machine));
  memory.runnerLastSeen.record(uid, runner);
};

const notAsked: [ChoiceFacts, undefined] = [{ kind: 'not asked' }, undefined];

/** The Secret is written only by managers, and before `spec.providerID`, which the creator of the machine can set. */
const recordedServer = ({ metadata, spec }: Machine, stored: MachineSecret | undefined): string | undefined => {
  const specServer = spec.providerID ? parseProviderID(spec.providerID)?.serverID : undefined;
  return stored?.machineUID === metadata.uid && stored.serverID === specServer ? specServer : undefined;
};

export const secretClaimant = (
  { machines }: Pick<MachineControllerOptions, 'machines'>,
  { metadata: { uid, name, creationTimestamp }, status }: Machine,
): SecretClaimant => ({
  uid,
  serverID: status?.serverID,
  createdAt: Date.parse(creationTimestamp),
  hasNamesake: machines.byIndex('name', name).some(({ metadata }) => metadata.uid !== uid),
});

const foreignSecret = ({ namespace, machine }: { namespace: string; machine: string }): LoginFacts => {
  const secret = `${namespace}/${secretNames.machine(machine)}`;
  return {
    kind: 'foreign',
    message: `The Secret ${secret} is not this machine's: another machine of the same name wrote it, or nobody knows who did. It is left alone. Delete the Secret if nobody needs it, or delete the Machine to get one with another name.`,
  };
};

const keyFacts = ({ fleetKeys }: ObserveDeps, machine: Machine): Snapshot['fleetKey'] => {
  const key = fleetKeys.of(sshKeyName(machine));
  return key.kind === 'ready' ? { kind: 'ready' } : key;
};

const loginFacts = (login: MachineSecret | undefined, serverID: string | undefined): LoginFacts => {
  if (login === undefined) return { kind: 'missing' };
  if (login.serverID !== serverID || login.username === '') return { kind: 'stale' };
  return { kind: 'known', hasPassword: login.password !== undefined };
};

const desiredOf = (plan: HostPlan | undefined): Snapshot['desired'] => {
  if (plan === undefined) return { kind: 'not asked' };
  return plan.kind === 'planned' ? { kind: 'known', hash: plan.hash } : { kind: 'problem', message: plan.message };
};

const turnOf = ({ macFleets }: ObserveDeps, machine: Machine, plan: HostPlan | undefined) => {
  const { namespace = '', uid } = machine.metadata;
  const fleet = macFleets.get(keyOf({ namespace, name: fleetNameOf(machine) }));
  return fleet && findTurn(fleet, uid, plan?.kind === 'planned' ? plan.hash : undefined);
};

const joinFacts = async (
  { client, certificateRequests }: ObserveDeps,
  { metadata, status }: Machine,
  node: NodeFacts,
  signal: AbortSignal,
): Promise<JoinFacts> => {
  const tokenID = status?.joinTokenID;
  if (tokenID === undefined && node.kind === 'ours' && node.ready === 'True')
    return { lease: undefined, identity: undefined };
  const identity =
    tokenID === undefined ? undefined : identityIssuedFor(tokenID, certificateRequests.byIndex('tokenID', tokenID));
  const name = { namespace: 'kube-node-lease', name: metadata.name };
  const lease = await ignoreNotFound(client.get(leases, name, { signal }));
  const renewedAt = Date.parse(lease?.spec?.renewTime ?? '');
  return { lease: Number.isNaN(renewedAt) ? undefined : { nodeName: metadata.name, renewedAt }, identity };
};

/** Pods are listed only when needed: for steps that need an idle Mac, and before a Mac is restarted or released. */
const needsIdle = (provisioned: boolean, turn: unknown, node: NodeFacts): boolean =>
  node.kind === 'ours' && (!provisioned || turn !== undefined);

/** Uncached. A Pod that has ended has no virtual machine. */
const hasNoRunningPods = async (
  { client }: Pick<ObserveDeps, 'client'>,
  nodeName: string,
  signal: AbortSignal,
): Promise<boolean> => {
  const { items } = await client.list(pods, { fieldSelector: `spec.nodeName=${nodeName}`, signal });
  return items.every(({ status }) => status?.phase === 'Succeeded' || status?.phase === 'Failed');
};
