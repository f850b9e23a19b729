import { type ManualClock, manualClock, sleep } from '../../clock/index.ts';
import type { Fields, Logger } from '../../logs/logger.ts';
import type { Durations } from '../durations.ts';
import { createLeaderElection, type LeaderElection, type LeadingMetric } from '../election.ts';
import type { Gate } from '../gate.ts';
import { type CandidateClock, candidateClock } from './candidate-clock.ts';
import { atOnce, createLeaseServer, type Fate, leaseClient, type LeaseServer } from './lease-server.ts';

/** What happened in a world, in order: who began to lead, who was told to end, who ended. */
interface Happening {
  who: string;
  what: 'began' | 'told' | 'ended';
}

export interface Candidate {
  readonly name: string;
  readonly clock: CandidateClock;
  readonly election: LeaderElection;
  /** What becomes of its requests from now on. */
  fateOf: () => Fate;
  /** How long its work takes to end once told to, and whether it does at all. */
  settleMs: number;
  /** Ends its work as if it were done, or broken. */
  finish: (error?: Error) => void;
  readonly done: Promise<'stopped' | 'lost'>;
  stop(): void;
  /** The gate of its latest term. */
  readonly termGate: Gate | undefined;
  readonly told: boolean;
  readonly logged: readonly { message: string; fields: Fields }[];
}

export interface World {
  readonly clock: ManualClock;
  readonly server: LeaseServer;
  readonly happened: Happening[];
  candidate(name: string, options?: CandidateOptions): Candidate;
  /** Lets time pass in small steps, and everything that follows from it happen. */
  pass(milliseconds: number): Promise<void>;
  /** Who would be let through now. */
  passing(): string[];
}

interface CandidateOptions {
  speed?: number;
  random?: () => number;
  durations?: Durations;
  metrics?: LeadingMetric;
}

export const lets = (gate: Gate | undefined): boolean => {
  try {
    gate?.pass();
    return gate !== undefined;
  } catch {
    return false;
  }
};

/** Every microtask, however many follow from one another. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const recorder = (logged: { message: string; fields: Fields }[], bound: Fields = {}): Logger => {
  const line = (message: string, fields: Fields = {}): void =>
    void logged.push({ message, fields: { ...bound, ...fields } });
  return { debug: line, info: line, warn: line, error: line, with: (more) => recorder(logged, { ...bound, ...more }) };
};

export const createWorld = (): World => {
  const world = manualClock();
  const server = createLeaseServer();
  const happened: Happening[] = [];
  const candidates: Candidate[] = [];
  return {
    clock: world,
    server,
    happened,
    candidate: (name, { speed, random = () => 0.5, durations, metrics } = {}) => {
      const clock = candidateClock(world, speed);
      const stopping = new AbortController();
      const logged: { message: string; fields: Fields }[] = [];
      let termGate: Gate | undefined;
      let told = true;
      const election = createLeaderElection({
        client: leaseClient(server, world, clock, () => candidate.fateOf()),
        clock,
        random,
        lease: { namespace: 'ns', name: 'it' },
        identity: name,
        ...(durations && { durations }),
        log: recorder(logged),
        ...(metrics && { metrics }),
      });
      const lead = async (signal: AbortSignal, gate: Gate): Promise<void> => {
        termGate = gate;
        told = false;
        happened.push({ who: name, what: 'began' });
        const work = Promise.withResolvers<void>();
        candidate.finish = (error) => (error ? work.reject(error) : work.resolve());
        signal.addEventListener('abort', () => {
          told = true;
          happened.push({ who: name, what: 'told' });
          const finish = async (): Promise<void> => {
            await sleep(clock, candidate.settleMs, new AbortController().signal);
            work.resolve();
          };
          if (Number.isFinite(candidate.settleMs)) void finish();
        });
        await work.promise;
        happened.push({ who: name, what: 'ended' });
      };
      const candidate: Candidate = {
        name,
        clock,
        election,
        fateOf: () => atOnce,
        settleMs: 0,
        finish: () => {},
        done: Promise.resolve().then(() => election.run(stopping.signal, lead)),
        stop: () => stopping.abort(),
        get termGate() {
          return termGate;
        },
        get told() {
          return told;
        },
        logged,
      };
      candidates.push(candidate);
      return candidate;
    },
    pass: async (milliseconds) => {
      await settle();
      for (let left = milliseconds; left >= 0; left -= 100) {
        world.advance(Math.min(100, left));
        await settle();
      }
    },
    passing: () => candidates.filter(({ termGate }) => lets(termGate)).map(({ name }) => name),
  };
};
