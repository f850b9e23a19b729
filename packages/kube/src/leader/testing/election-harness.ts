import { type ManualClock, manualClock, sleep } from '../../clock/index.ts';
import type { Fields, Logger } from '../../logs/logger.ts';
import type { ElectionDurations } from '../durations.ts';
import { createLeaderElection, type LeaderElection, type LeaderMetric } from '../election.ts';
import type { Gate } from '../gate.ts';
import { type CandidateClock, candidateClock } from './candidate-clock.ts';
import { createLeaseServer, leaseClient, type LeaseServer, noFault, type RequestFault } from './lease-server.ts';

/** What candidates did, in order. */
interface HarnessEvent {
  who: string;
  what: 'started' | 'cancelled' | 'ended';
}

export interface Candidate {
  readonly name: string;
  readonly clock: CandidateClock;
  readonly election: LeaderElection;
  /** The fault of its next requests. */
  faultOf: () => RequestFault;
  /** How long its work takes to end after its signal fired; Infinity: never. */
  settleMs: number;
  /** Makes its work return, or throw. */
  finish: (error?: Error) => void;
  readonly done: Promise<'stopped' | 'lost'>;
  stop(): void;
  /** The gate of its latest term. */
  readonly termGate: Gate | undefined;
  readonly cancelled: boolean;
  readonly logged: readonly { message: string; fields: Fields }[];
}

export interface ElectionHarness {
  readonly clock: ManualClock;
  readonly server: LeaseServer;
  readonly events: HarnessEvent[];
  candidate(name: string, options?: CandidateOptions): Candidate;
  /** Advances time in small steps, and runs everything that follows. */
  advance(milliseconds: number): Promise<void>;
  /** Candidates whose gate is open now. */
  candidatesWithOpenGate(): string[];
}

interface CandidateOptions {
  speed?: number;
  random?: () => number;
  durations?: ElectionDurations;
  metrics?: LeaderMetric;
}

export const isGateOpen = (gate: Gate | undefined): boolean => {
  try {
    gate?.pass();
    return gate !== undefined;
  } catch {
    return false;
  }
};

/** Runs all microtasks. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const recorder = (logged: { message: string; fields: Fields }[], bound: Fields = {}): Logger => {
  const line = (message: string, fields: Fields = {}): void =>
    void logged.push({ message, fields: { ...bound, ...fields } });
  return { debug: line, info: line, warn: line, error: line, with: (more) => recorder(logged, { ...bound, ...more }) };
};

export const createElectionHarness = (): ElectionHarness => {
  const sharedClock = manualClock();
  const server = createLeaseServer();
  const events: HarnessEvent[] = [];
  const candidates: Candidate[] = [];
  return {
    clock: sharedClock,
    server,
    events,
    candidate: (name, { speed, random = () => 0.5, durations, metrics } = {}) => {
      const clock = candidateClock(sharedClock, speed);
      const stopping = new AbortController();
      const logged: { message: string; fields: Fields }[] = [];
      let termGate: Gate | undefined;
      let cancelled = true;
      const election = createLeaderElection({
        client: leaseClient(server, sharedClock, clock, () => candidate.faultOf()),
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
        cancelled = false;
        events.push({ who: name, what: 'started' });
        const work = Promise.withResolvers<void>();
        candidate.finish = (error) => (error ? work.reject(error) : work.resolve());
        signal.addEventListener('abort', () => {
          cancelled = true;
          events.push({ who: name, what: 'cancelled' });
          const finish = async (): Promise<void> => {
            await sleep(clock, candidate.settleMs, new AbortController().signal);
            work.resolve();
          };
          if (Number.isFinite(candidate.settleMs)) void finish();
        });
        await work.promise;
        events.push({ who: name, what: 'ended' });
      };
      const candidate: Candidate = {
        name,
        clock,
        election,
        faultOf: () => noFault,
        settleMs: 0,
        finish: () => {},
        done: Promise.resolve().then(() => election.run(stopping.signal, lead)),
        stop: () => stopping.abort(),
        get termGate() {
          return termGate;
        },
        get cancelled() {
          return cancelled;
        },
        logged,
      };
      candidates.push(candidate);
      return candidate;
    },
    advance: async (milliseconds) => {
      await settle();
      for (let left = milliseconds; left >= 0; left -= 100) {
        sharedClock.advance(Math.min(100, left));
        await settle();
      }
    },
    candidatesWithOpenGate: () => candidates.filter(({ termGate }) => isGateOpen(termGate)).map(({ name }) => name),
  };
};
