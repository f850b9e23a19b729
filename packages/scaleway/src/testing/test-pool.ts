import type { Clock } from '@tartan/kube/clock';
import { createHostPool, type HostPoolOptions } from '../create-host-pool.ts';
import { ScalewayError } from '../errors/scaleway-error.ts';
import type { HostPool } from '../host-pool.ts';
import type { CallReport } from '../http/transport.ts';

export const zone = 'fr-par-3';
export const serverID = '11111111-2222-4333-8444-555555555555';
export const projectID = '9a1f7c52-0d7e-4a2b-8f43-3c2d1b0a9e87';
export const secretKey = '5e8d2c1b-7f60-4c39-9b1a-2f4e6d8c0a13';
export const accessKey = 'SCWABCDEFGHIJKLMNOPQ';

/** Unlike any other wait, so that the clock can tell the deadline from the waits. */
const deadline = 12_345;

/** Waits end at once; the deadline of an attempt fires when the test calls `expire`. */
export interface EagerClock extends Clock {
  /** All waits so far, in milliseconds. */
  readonly waits: number[];
  /** Fires the running deadlines. */
  expire(): void;
}

export const eagerClock = (start = Date.parse('2026-01-01T00:00:00Z')): EagerClock => {
  let now = start;
  const waits: number[] = [];
  const deadlines = new Set<() => void>();
  return {
    waits,
    now: () => now,
    monotonic: () => now - start,
    after: (milliseconds, run) => {
      if (milliseconds === deadline) {
        deadlines.add(run);
        return () => deadlines.delete(run);
      }
      waits.push(milliseconds);
      let wanted = true;
      queueMicrotask(() => {
        if (!wanted) return;
        now += milliseconds;
        run();
      });
      return () => {
        wanted = false;
      };
    },
    expire: () => {
      for (const run of deadlines) run();
    },
  };
};

export interface TestPool extends HostPool {
  readonly clock: EagerClock;
  readonly reports: CallReport[];
}

export const testPool = (apiURL: string, more: Partial<HostPoolOptions> = {}): TestPool => {
  const clock = eagerClock();
  const reports: CallReport[] = [];
  const onCall = (report: CallReport): void => void reports.push(report);
  const options = { accessKey, secretKey, projectID, apiURL, clock, random: () => 0.5, rate: 1000, deadline, onCall };
  return { ...createHostPool({ ...options, ...more }), clock, reports };
};

/** The error with which a call must reject. */
export const failureOf = async (call: Promise<unknown>): Promise<ScalewayError> => {
  try {
    await call;
  } catch (error) {
    if (error instanceof ScalewayError) return error;
    throw new Error(`it rejected with something else: ${String(error)}`, { cause: error });
  }
  throw new Error('it succeeded');
};

/** A server in Scaleway's wire format. */
export const wireServer = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  id: serverID,
  name: 'tuist-pool-1',
  type: 'M2-L',
  status: 'ready',
  zone,
  project_id: projectID,
  organization_id: projectID,
  delivered: true,
  os: { id: 'os-1', name: 'macos-tahoe-26.3', family: 'Tahoe', version: '26.3', is_beta: false, label: 'macOS Tahoe' },
  ip: '198.18.0.1',
  ssh_username: 'm1',
  sudo_password: 'sudo-s3cret',
  vnc_url: 'vnc://m1:vnc-s3cret@198.18.0.1:5900',
  vnc_port: 5900,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  deletion_scheduled: false,
  tags: [],
  ...more,
});

export const wireServers = (count: number, from = 0): Record<string, unknown>[] =>
  Array.from({ length: count }, (_, at) => wireServer({ id: `server-${from + at}`, name: `tuist-pool-${from + at}` }));
