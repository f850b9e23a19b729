import { timestamp } from '@tartan/kube/clock';
import type { FleetFacts, Snapshot } from '../decide.ts';
import type { Limits, MachineFacts } from '../judge-turn.ts';
import type { RollRecord, Turn } from '../turns.ts';

export const minute = 60_000;
export const now = Date.parse('2026-01-01T12:00:00Z');
/** That many minutes before now, as a timestamp. */
export const ago = (minutes: number): string => timestamp(now - minutes * minute);

export const limits: Limits = {
  retryAfterMs: 30 * minute,
  unreachableMs: 2 * minute,
  longestTurnMs: 60 * minute,
  passAgainMs: 10 * minute,
};

/** Ready, and outdated. */
export const machineFacts = (name: string, facts: Partial<MachineFacts> = {}): MachineFacts => ({
  name,
  uid: `uid-${name}`,
  provisioned: true,
  deleting: false,
  paused: false,
  ready: true,
  notReadySince: undefined,
  desired: `${name}-2`,
  plannedBy: undefined,
  actual: `${name}-1`,
  pushed: `${name}-1`,
  failed: undefined,
  attempts: 0,
  lastFailure: undefined,
  unreachableAt: undefined,
  waitingForIdle: false,
  failureMessage: undefined,
  ...facts,
});

export const updated = (name: string, facts: Partial<MachineFacts> = {}): MachineFacts =>
  machineFacts(name, { actual: `${name}-2`, pushed: `${name}-2`, ...facts });

/** For the desired hash, granted a minute ago. */
export const turnFor = (machine: string, turn: Partial<Turn> = {}): Turn => ({
  machine,
  uid: `uid-${machine}`,
  hash: `${machine}-2`,
  revision: 'r2',
  canary: false,
  grantedAt: ago(1),
  ...turn,
});

const nothing: RollRecord = { revision: 'r2', turns: [], passedOver: [] };

export const fleetFacts = (rollRecord: Partial<RollRecord> = {}, facts: Partial<FleetFacts> = {}): FleetFacts => ({
  ours: false,
  deleting: false,
  paused: false,
  replicas: undefined,
  maxUnavailable: 2,
  gateDeadlineMs: 15 * minute,
  waitForMacs: true,
  releaseID: undefined,
  rollRecord: { ...nothing, ...rollRecord },
  ...facts,
});

export const snapshotOf = (
  machines: readonly MachineFacts[],
  rollRecord: Partial<RollRecord> = {},
  facts: Partial<FleetFacts> = {},
): Snapshot => ({
  fleet: fleetFacts(rollRecord, facts),
  machines,
  deployment: undefined,
  desired: machines.length,
  deploymentPending: false,
  toBeReplaced: [],
  revision: 'r2',
  releaseID: undefined,
  now,
  limits,
});
