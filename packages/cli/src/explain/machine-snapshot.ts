import { finalizers, serverNames } from '@tartan/api';
import { getCondition, hasFinalizer, keyOf } from '@tartan/kube';
import {
  choose,
  clusterFacts,
  findTurn,
  fleetNameOf,
  type HostFacts,
  hostFacts,
  type MachineSnapshot,
  nodeFacts,
  wantedOf,
} from '@tartan/provider/decisions';
import { parseFlags } from '@tartan/provider/flags';
import { isVersionedPin } from '@tartan/scaleway';
import type { Mac } from '../world/join.ts';
import type { Machine } from '../world/observe.ts';
import type { ExplainWorld } from './explain-world.ts';

/** What a machine is decided by, as far as it can be seen in Kubernetes, and what was taken for granted instead of the rest. */
export interface Seen {
  readonly snapshot: MachineSnapshot;
  readonly unseen: readonly string[];
}

const usual = parseFlags([], {});
const usualPolicy: MachineSnapshot['policy'] =
  'options' in usual
    ? {
        ...usual.options.bootstrap,
        updateGiveUpAfter: usual.options.update.giveUpAfter,
        updateRetryAfterMs: usual.options.update.retryAfterMs,
      }
    : { rebootAfter: undefined, giveUpAfter: undefined, updateGiveUpAfter: undefined, updateRetryAfterMs: undefined };

export const machineSnapshot = (machine: Machine, { host, node, pods }: Mac, world: ExplainWorld): Seen => {
  const { now, machines, hosts, fleets, told } = world;
  const { metadata, spec, status = {} } = machine;
  const says = (type: string): string | undefined => getCondition(status.conditions, type)?.reason;
  const prefix =
    says('Provisioned') === 'NoAdoptPoolPrefix' ? undefined : (told.defaultPoolPrefix ?? serverNames.defaultPoolPrefix);
  const wanted = wantedOf(machine, prefix);
  const fleet = fleets.find(
    ({ metadata: of }) => keyOf(of) === keyOf({ namespace: metadata.namespace ?? '', name: fleetNameOf(machine) }),
  );
  const desired = status.desiredHostConfigHash;
  const turn = fleet && findTurn(fleet, metadata.uid, desired);
  const [choice, chosen] = status.serverID
    ? [{ kind: 'not asked' } as const, undefined]
    : choose(
        { macHosts: { list: () => [...hosts] }, machines: { list: () => [...machines] }, clock: { now: () => now } },
        machine,
        wanted,
      );
  const reserved = hosts.find(({ metadata: of }) => of.name === status.serverID);
  // Also one of another server, which is not beside the machine in `Mac`.
  const named = node ?? world.nodes.find(({ metadata: of }) => of.name === metadata.name);
  const keyTrouble = says('Bootstrapped') === 'SSHKeyUnavailable' || says('Provisioned') === 'SSHKeyUnavailable';
  const snapshot: MachineSnapshot = {
    now,
    policy: usualPolicy,
    machine: {
      name: metadata.name,
      deleting: metadata.deletionTimestamp !== undefined,
      held: hasFinalizer(machine, finalizers.machine),
      // The manager sees to it in a moment, and nothing else waits for it.
      blocksMove: true,
      providerID: spec.providerID || undefined,
      versionedPin: isVersionedPin(spec.os),
      poolPrefix: wanted.poolPrefix || undefined,
      allowedPoolPrefixes: says('Provisioned') === 'PoolPrefixNotAllowed' ? [] : [wanted.poolPrefix],
      memory: status,
    },
    cluster: clusterFacts(
      machine,
      world.clusters,
      says('Allowed') === 'NamespaceNotAllowed' ? [] : [metadata.namespace ?? ''],
    ),
    fleetKey: keyTrouble
      ? { kind: 'unavailable', message: getCondition(status.conditions, 'Bootstrapped')?.message ?? '' }
      : { kind: 'ready' },
    choice,
    host: reservedFacts(status.serverID, reserved && hostFacts(reserved, machine)),
    login: { kind: 'known', hasPassword: says('Bootstrapped') !== 'MissingSudoPassword' },
    node: nodeFacts(named, machine, longMissing, reserved ?? chosen),
    join: { lease: undefined, identity: undefined },
    desired: desired === undefined ? { kind: 'not asked' } : { kind: 'known', hash: desired },
    turn: turn && { hash: turn.hash, rollBack: turn.rollBack === true },
    idle: pods && pods.length === 0,
    // Only the manager may ask GitHub; what it heard is in the condition Deleting.
    runner: { kind: 'not asked' },
    restMs: 0,
  };
  return { snapshot, unseen: unseenOf({ spec, status, host, told }) };
};

/** Whoever reads objects once cannot know since when one is missing. */
const longMissing = {
  missingForMs: () => Infinity,
  has: () => true,
  forget: () => {},
  forgetAll: () => {},
};

const reservedFacts = (serverID: string | undefined, facts: HostFacts | undefined): HostFacts => {
  if (!serverID) return { kind: 'none' };
  return (
    facts ?? {
      kind: 'absent',
      server: 'unknown',
      message: `There is no MacHost ${serverID}. If Scaleway still has the server, the inventory makes it again.`,
    }
  );
};

const unseenOf = ({
  spec,
  status,
  host,
  told,
}: Pick<Machine, 'spec'> & {
  status: NonNullable<Machine['status']>;
  host: Mac['host'];
  told: ExplainWorld['told'];
}): string[] => [
  ...(spec.adoptPoolPrefix || told.defaultPoolPrefix || status.serverID
    ? []
    : [
        `Which pool the manager takes Macs from is a flag of its own; ${serverNames.defaultPoolPrefix} is assumed (--default-adopt-pool-prefix).`,
      ]),
  ...(host === undefined
    ? []
    : [
        'What goes on over SSH at this moment, the Secrets with key and login, and pauses that the manager keeps in memory: the conditions and events below are its own word.',
      ]),
];
