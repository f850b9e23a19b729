import type { MacFleetStatus } from '@tartan/api';
import { timestamp } from '@tartan/kube/clock';
import { decide, type Snapshot } from '../decide.ts';
import type { MachineFacts } from '../judge-turn.ts';
import { findTurn, type RollRecord, rollRecordFromStatus, rollRecordToStatus } from '../turns.ts';
import { fleetFacts, limits, machineFacts, minute, now as noon } from './fixtures.ts';

/** What a revision does to the Macs that get it. */
export type Revision = 'good' | 'refused' | 'kills the agent' | 'cuts off the Mac';

interface ModelMachine extends MachineFacts {
  /** Whether SSH answers. */
  reachable: boolean;
  /** The hash before the last push. */
  previous: string | undefined;
}

export interface Write {
  before: RollRecord;
  after: RollRecord;
  snapshot: Snapshot;
}

/**
 * A fleet, its Macs, and managers that read and write it in two steps, so that a manager may write on a stale read. As with resource
 * versions, only a write to the latest version succeeds.
 */
export const modelFleet = ({ size = 4, maxUnavailable = 2 } = {}) => {
  let now = noon;
  let version = 0;
  let status: MacFleetStatus = { observedGeneration: -1 };
  let revisionNumber = 1;
  let revision: Revision = 'good';
  let paused = false;
  let born = 0;
  const machines: ModelMachine[] = [];
  const seen = new Map<number, { version: number; snapshot: Snapshot }>();
  const writes: Write[] = [];
  const lost: string[] = [];

  const hash = (name: string): string => `${name}-${revisionNumber}`;
  const join = (): void => {
    const name = `mac-${born++}`;
    const has = { desired: hash(name), actual: hash(name), pushed: hash(name), previous: undefined };
    machines.push({ ...machineFacts(name), ...has, reachable: true });
  };
  for (let count = 0; count < size; count += 1) join();

  const at = (index: number): ModelMachine | undefined => machines[index % Math.max(1, machines.length)];
  const set = (machine: ModelMachine, facts: Partial<ModelMachine>): void => {
    const wasReady = machine.ready;
    Object.assign(machine, facts);
    if (wasReady && !machine.ready) machine.notReadySince = now;
    if (machine.ready) machine.notReadySince = undefined;
  };

  /** A pass of the machine controller: sets the desired hash, forgets old refusals, and pushes if it has a turn. */
  const work = (machine: ModelMachine): void => {
    machine.desired = hash(machine.name);
    const turn = findTurn({ status }, machine.uid, machine.desired);
    if (turn?.rollBack === true) return rollBack(machine, turn.hash);
    const { failed, lastFailure = 0 } = machine;
    const mayRetry = failed !== machine.desired || now - lastFailure >= (limits.retryAfterMs ?? Infinity);
    if (failed !== undefined && mayRetry) Object.assign(machine, { failed: undefined, attempts: 0 });
    if (turn === undefined || machine.failed !== undefined || machine.actual === machine.desired) return;
    if (!machine.reachable) return set(machine, { unreachableAt: now });
    push(machine, turn.hash);
  };

  const push = (machine: ModelMachine, wanted: string): void => {
    set(machine, { unreachableAt: undefined });
    if (revision === 'refused') {
      const attempts = machine.attempts + 1;
      return set(machine, { attempts, lastFailure: now, ...(attempts >= 2 && { failed: wanted }) });
    }
    const arrived = { previous: machine.actual, pushed: wanted, actual: wanted, attempts: 0 };
    if (revision === 'good') return set(machine, { ...arrived, ready: true });
    lost.push(machine.name);
    set(machine, { ...arrived, ready: false, reachable: revision !== 'cuts off the Mac' });
  };

  const rollBack = (machine: ModelMachine, refused: string): void => {
    if (!machine.reachable || machine.failed === refused) return;
    const { previous } = machine;
    set(machine, { failed: refused, lastFailure: now, actual: previous, pushed: previous, ready: true });
  };

  const snapshot = (): Snapshot => ({
    fleet: fleetFacts(rollRecordFromStatus(status), { paused, maxUnavailable }),
    machines: machines.map(({ reachable: _reachable, previous: _previous, ...facts }) => facts),
    deployment: undefined,
    desired: machines.length,
    deploymentPending: false,
    toBeReplaced: [],
    revision: `r${revisionNumber}`,
    releaseID: undefined,
    now,
    limits,
  });

  return {
    machines,
    writes,
    /** Names of the Macs that a bad revision took down, once for each time. */
    lost,
    get rollRecord() {
      return rollRecordFromStatus(status);
    },
    get now() {
      return now;
    },
    pass: (minutes: number) => {
      now += minutes * minute;
    },
    look: (manager: number) => {
      seen.set(manager, { version, snapshot: snapshot() });
    },
    write: (manager: number) => {
      const held = seen.get(manager);
      seen.delete(manager);
      if (held?.version !== version) return;
      const decision = decide({ ...held.snapshot, now });
      if (decision.kind !== 'roll') return;
      writes.push({
        before: rollRecordFromStatus(status),
        after: decision.rollRecord,
        snapshot: { ...held.snapshot, now },
      });
      status = { observedGeneration: 1, ...rollRecordToStatus(decision.rollRecord) };
      version += 1;
    },
    work: (index: number) => {
      const machine = at(index);
      if (machine) work(machine);
    },
    release: (next: Revision) => {
      revision = next;
      revisionNumber += 1;
    },
    /** The same revision does no harm from now on. */
    mend: () => {
      revision = 'good';
    },
    setDown: (index: number, reachable: boolean) => {
      const machine = at(index);
      if (machine) set(machine, { ready: false, reachable });
    },
    setUp: (index: number) => {
      const machine = at(index);
      if (machine) set(machine, { ready: true, reachable: true });
    },
    vanish: (index: number) => {
      if (machines.length > 0) machines.splice(index % machines.length, 1);
    },
    join,
    setPaused: (value: boolean) => {
      paused = value;
    },
    describe: () => JSON.stringify({ at: timestamp(now), status, machines }, undefined, 1),
  };
};

export type ModelFleet = ReturnType<typeof modelFleet>;
