import type { ModelGitHub } from './github.ts';
import type { RandomInt } from './random.ts';
import type { ModelPod, ModelServer } from './server.ts';

/**
 * `silent`: its runner works, but the guest never reports. `ignores removal`: it does not notice that GitHub has removed it.
 * `never connects, silent`: its runner never connects, and the guest never reports. `never connects`: its runner never connects, and the
 * guest reports that it waits for a job.
 */
type Guest = 'healthy' | 'silent' | 'ignores removal' | 'never connects, silent' | 'never connects';
const guests: readonly Guest[] = [
  'healthy',
  'healthy',
  'healthy',
  'healthy',
  'healthy',
  'healthy',
  'ignores removal',
  'silent',
  'never connects, silent',
  'never connects',
];

interface Machine {
  readonly guest: Guest;
  readonly runner: number;
  readonly boots: number;
  readonly startedAt: number;
  job: { readonly shows: number; readonly ends: number } | undefined;
  /** When it ends by itself because GitHub has removed it. */
  leaves: number | undefined;
  hasEnded: boolean;
  /** Since when its agent has something unreported. */
  unreportedSince: number | undefined;
}

const slots = 2;
/** After this time Kubernetes marks a Node as unknown. */
const silenceMs = 40_000;
/** The agent has reported a virtual machine before its runner can start. */
const leastBootMs = 15_000;
const mostBootMs = 60_000;
/** From the assignment of a job to its marker. */
const mostStartMs = 60_000;
const maxReportDelayMs = 10_000;
/** From the return of an agent to its first report about Pods. */
const mostReturnMs = 20_000;
const mostAwayMs = 150_000;

/** A Mac: its virtual machines, which run independently of the agent, and the agent. */
export const modelMac = (name: string, server: ModelServer, github: ModelGitHub, dice: RandomInt) => {
  const machines = new Map<string, Machine>();
  const state = { isUp: true, lastBeat: 0, speaksAt: 0, returnsAt: Infinity };

  const runGuest = (machine: Machine, now: number): void => {
    const { job, boots, runner } = machine;
    if (
      machine.hasEnded ||
      now < boots ||
      machine.guest === 'never connects, silent' ||
      machine.guest === 'never connects'
    )
      return;
    github.connect(runner);
    if (job !== undefined) {
      if (now < job.ends) return;
      machine.hasEnded = true;
      github.runners.delete(runner);
    } else if (github.give(runner, now)) {
      machine.job = { shows: now + dice(mostStartMs), ends: now + 1000 + dice(600_000) };
    } else if (!github.runners.has(runner) && machine.guest !== 'ignores removal') {
      machine.leaves ??= now + dice(mostStartMs);
      if (now >= machine.leaves) machine.hasEnded = true;
    }
  };

  const wordOf = ({ guest, boots, job }: Machine, now: number): ModelPod['job'] => {
    if (guest === 'silent' || guest === 'never connects, silent' || now < boots) return 'unknown';
    return job !== undefined && now >= job.shows ? 'started' : 'none';
  };

  const tell = (pod: ModelPod, machine: Machine, now: number): void => {
    const phase = machine.hasEnded ? 'ended' : 'running';
    const job = wordOf(machine, now);
    if (pod.phase === phase && pod.job === job) return;
    machine.unreportedSince ??= now;
    if (now - machine.unreportedSince < maxReportDelayMs && dice(3) > 0) return;
    machine.unreportedSince = undefined;
    server.update(pod.uid, { phase, job, runningSince: machine.startedAt });
    if (machine.hasEnded) machines.delete(pod.uid);
  };

  const look = (pod: ModelPod, now: number): void => {
    const machine = machines.get(pod.uid);
    if (pod.deletedAt !== undefined) {
      machines.delete(pod.uid);
      server.forget(pod.uid);
    } else if (machine !== undefined) tell(pod, machine, now);
    else if (pod.phase === 'pending' && machines.size < slots) start(pod, now);
  };

  const start = ({ uid }: ModelPod, now: number): void => {
    const runner = server.secrets.get(uid);
    if (runner === undefined || dice(3) === 0) return;
    const guest = guests[dice(guests.length)] ?? 'healthy';
    machines.set(uid, {
      guest,
      runner,
      boots: now + leastBootMs + dice(mostBootMs - leastBootMs),
      startedAt: now,
      job: undefined,
      leaves: undefined,
      hasEnded: false,
      unreportedSince: undefined,
    });
    // Some agents crash after a start, before they report it.
    if (dice(6) === 0) Object.assign(state, { isUp: false, returnsAt: now + dice(mostAwayMs) });
  };

  const setUp = (isUp: boolean, now: number): void => {
    if (isUp && !state.isUp) state.speaksAt = now + dice(mostReturnMs);
    Object.assign(state, { isUp, returnsAt: Infinity });
  };

  const beat = (now: number): void => {
    const node = server.nodes.get(name);
    if (node === undefined) return;
    if (state.isUp) state.lastBeat = now;
    const isReady = now - state.lastBeat < silenceMs;
    if (isReady !== node.isReady) server.nodes.set(name, { ...node, isReady, readyChangedAt: now });
  };

  return {
    name,
    machines,
    setUp,
    hasJob: (uid: string): boolean => {
      const machine = machines.get(uid);
      return machine !== undefined && !machine.hasEnded && machine.job !== undefined;
    },
    isSilent: (uid: string): boolean => machines.get(uid)?.guest === 'silent',
    isSilentWithoutRunner: (uid: string): boolean => machines.get(uid)?.guest === 'never connects, silent',
    tick: (now: number): void => {
      for (const machine of machines.values()) runGuest(machine, now);
      if (now >= state.returnsAt) setUp(true, now);
      beat(now);
      if (!state.isUp || now < state.speaksAt) return;
      for (const uid of machines.keys()) if (!server.pods.has(uid)) machines.delete(uid);
      for (const pod of server.pods.values()) if (pod.node === name) look(pod, now);
    },
    /** Pods without a free slot wait at the scheduler. */
    hasPlace: (): boolean =>
      [...server.pods.values()].filter(({ node, phase }) => node === name && phase !== 'ended').length < slots,
  };
};

export type ModelMac = ReturnType<typeof modelMac>;
