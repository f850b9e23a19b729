import type { NodeFacts, PodFacts, PoolFacts, Snapshot } from '../snapshot.ts';

/** Snapshots for tests. By default Pods are warm and healthy. */

export const now = Date.parse('2026-01-01T12:00:00Z');
export const minute = 60_000;
export const ago = (minutes: number): number => now - minutes * minute;

export const mac = (facts: Partial<Extract<NodeFacts, { kind: 'exists' }>> = {}): NodeFacts => ({
  kind: 'exists',
  isReady: true,
  readyChangedAt: ago(600),
  isDraining: false,
  ...facts,
});
export const notReadyMac = mac({ isReady: false, readyChangedAt: ago(5) });
export const cordonedMac = mac({ isDraining: true });
const noMac: NodeFacts = { kind: 'unscheduled', isUnschedulable: false };
export const unschedulable: NodeFacts = { kind: 'unscheduled', isUnschedulable: true };
export const goneMac: NodeFacts = { kind: 'gone' };

/** `warm('a')`: it runs, and waits for a job. */
export const warm = (name: string, facts: Partial<PodFacts> = {}): PodFacts => ({
  uid: name,
  name: `macos-runner-${name}`,
  createdAt: ago(60),
  isStale: false,
  deletedAt: undefined,
  phase: 'running',
  node: mac(),
  boundAt: ago(60),
  runningSince: ago(59),
  runnerID: 1,
  retiredAt: undefined,
  isRetiredOffline: false,
  offlineSince: undefined,
  runnerVersion: undefined,
  job: 'none',
  ...facts,
});
export const busy = (name: string, facts: Partial<PodFacts> = {}): PodFacts => warm(name, { job: 'started', ...facts });
/** It has a runner, and its virtual machine does not run yet. */
export const pending = (name: string, facts: Partial<PodFacts> = {}): PodFacts =>
  warm(name, { phase: 'pending', job: 'unknown', boundAt: ago(1), runningSince: undefined, ...facts });
/** It has no runner yet. */
export const unregistered = (name: string, facts: Partial<PodFacts> = {}): PodFacts =>
  pending(name, { runnerID: undefined, ...facts });
export const unscheduled = (name: string, facts: Partial<PodFacts> = {}): PodFacts =>
  unregistered(name, { node: noMac, ...facts });
export const ended = (name: string, facts: Partial<PodFacts> = {}): PodFacts =>
  warm(name, { phase: 'ended', ...facts });
export const retired = (name: string, minutes: number, facts: Partial<PodFacts> = {}): PodFacts =>
  warm(name, { retiredAt: ago(minutes), ...facts });
export const terminating = (name: string, facts: Partial<PodFacts> = {}): PodFacts =>
  warm(name, { deletedAt: ago(1), ...facts });
export const stale = { isStale: true } as const;

export const snapshotOf = (
  pods: readonly PodFacts[],
  pool: Partial<PoolFacts> = {},
  rest: Partial<Omit<Snapshot, 'pool' | 'pods'>> = {},
): Snapshot => ({
  now,
  pool: {
    replicas: pods.length,
    maxConcurrentPercent: 5,
    isDeleting: false,
    hasFinalizer: true,
    hasGitHub: true,
    ...pool,
  },
  pods,
  orphanedAccounts: [],
  github: 'usable',
  ...rest,
});
