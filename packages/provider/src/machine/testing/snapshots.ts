import type { LastAttempt, MachineStatus } from '@tartan/api';
import type { PresentHost } from '../observe/host.ts';
import type { MachineFacts, NodeFacts, Snapshot } from '../snapshot.ts';

export const now = Date.parse('2026-01-01T12:00:00Z');
export const at = (minutesAgo: number): string => new Date(now - minutesAgo * 60_000).toISOString();

/** The last attempt, as a field of the status. */
export const tried = (
  task: LastAttempt['task'],
  outcome: LastAttempt['outcome'],
  minutesAgo: number,
  count = 0,
): Pick<MachineStatus, 'lastAttempt'> => ({ lastAttempt: { task, outcome, message: 'm', at: at(minutesAgo), count } });

const serverID = 'server-1';
const providerID = `scw-applesilicon://fr-par-1/${serverID}`;

export const machineWith = (status: MachineStatus, more: Partial<MachineFacts> = {}): MachineFacts => ({
  name: 'mac-1',
  deleting: false,
  hasFinalizer: true,
  blocksMove: true,
  providerID,
  versionedPin: false,
  poolPrefix: 'tuist-pool-',
  allowedPoolPrefixes: ['tuist-pool-'],
  status: { serverID, ...status },
  ...more,
});

export const provisioned = (status: MachineStatus = {}, more: Partial<MachineFacts> = {}): MachineFacts =>
  machineWith({ initialization: { provisioned: true }, hostConfigHash: 'a', joinVersion: 'tok111', ...status }, more);

export const host: PresentHost = {
  kind: 'present',
  holder: 'me',
  release: undefined,
  abandoned: false,
  gone: false,
  nameVerified: true,
  nameMatches: true,
  providerIDMatches: true,
  inPool: false,
  serverStatus: 'ready',
  installs: 1,
  poolPrefix: 'tuist-pool-',
  rebootRequestedAt: undefined,
  rebootIssuedAt: undefined,
  message: 'as it is',
};

export const node: Extract<NodeFacts, { kind: 'ours' }> = {
  kind: 'ours',
  ready: 'True',
  message: '',
  summary: 'a',
  unschedulable: false,
  cordonedByUs: false,
};

/** A machine whose Mac can be bootstrapped. */
export const claimedSnapshot: Snapshot = {
  now,
  policy: { rebootAfter: 3, giveUpAfter: 8, updateGiveUpAfter: 5, updateRetryAfterMs: 30 * 60_000 },
  machine: machineWith({}),
  cluster: { pauseReasons: [], waitingFor: undefined },
  fleetKey: { kind: 'ready' },
  choice: { kind: 'not asked' },
  host,
  login: { kind: 'known', hasPassword: true },
  failedRead: undefined,
  node: { kind: 'missing', forMs: 0 },
  runner: { kind: 'not asked' },
  join: { lease: undefined, identity: undefined },
  desired: { kind: 'not asked' },
  turn: undefined,
  idle: undefined,
};

/** Provisioned, with its Node, and up to date. */
export const readySnapshot: Snapshot = {
  ...claimedSnapshot,
  machine: provisioned(),
  node,
  desired: { kind: 'known', hash: 'a' },
};

/** Outdated, and with a turn. */
export const driftedSnapshot: Snapshot = {
  ...readySnapshot,
  desired: { kind: 'known', hash: 'b' },
  turn: { hash: 'b', rollBack: false },
  idle: true,
};
