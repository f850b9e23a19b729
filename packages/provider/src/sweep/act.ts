import { buildEvent, type MacHost } from '@tartan/api';
import {
  type Client,
  type EventInput,
  type EventRecorder,
  type Gate,
  isKubeError,
  type Logger,
  NotLeadingError,
} from '@tartan/kube';
import { type Clock, timestamp } from '@tartan/kube/clock';
import { osFamilyKey } from '@tartan/scaleway';
import type { Host } from '../controller-deps.ts';
import { type Release, releaseHost } from '../claim/claim-host.ts';
import { defined } from '../defined.ts';
import { readHostPauseReasons } from '../pause/pauses.ts';
import { type ReclaimPolicy, strandedVerdict } from './decide.ts';
import type { SweepMetrics } from './metrics.ts';
import { type ObserveDeps, recheck, strandedFacts } from './observe.ts';

export interface ReclaimDeps extends ObserveDeps {
  readonly client: Pick<Client, 'get' | 'list' | 'patch'>;
  readonly policy: ReclaimPolicy;
  readonly gate: Gate;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: Pick<EventRecorder, 'event'>;
  readonly figures: SweepMetrics;
}

/**
 * Sends one Mac that the caches call stranded back to its pool.
 *
 * Flow: looked at again past all caches, judged anew, through the gate, one guarded write of the MacHost. Its own controller wipes it.
 * Guarantees: a Mac that a machine needs is never released: the machine is seen by the second look, or what it writes to claim the Mac
 * makes the write fail. To repeat it after a crash does nothing more.
 * Answers why the Mac was left alone, if it was: it is not stranded any more, or somebody writes it right now. Rejects when it could not be
 * looked at: who cannot see must not wipe, this Mac or any other.
 */
export const reclaim = async (reclaimer: ReclaimDeps, seen: Host, signal: AbortSignal): Promise<string | undefined> => {
  try {
    const found = await recheck(reclaimer, seen.metadata.name, { signal });
    return typeof found === 'string' ? found : await releaseStranded(reclaimer, found, signal);
  } catch (error) {
    // That this process stops, or does not lead, is no news about the Mac.
    if (!signal.aborted && !(error instanceof NotLeadingError)) reclaimer.events.event(seen, abortedEvent(error));
    throw error;
  }
};

const releaseStranded = async (
  reclaimer: ReclaimDeps,
  host: Host,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const { client, policy, gate, clock, log, events, figures } = reclaimer;
  const pauses = await readHostPauseReasons(reclaimer, host, { signal });
  const verdict = strandedVerdict(strandedFacts(host, pauses), policy, clock.now());
  if (verdict.kind === 'leave') return verdict.message;
  const release = releaseOf(host, verdict.poolPrefix, verdict.message, clock.now());
  const { remainingMs } = gate.pass();
  try {
    await releaseHost(client, host, release, { signal, deadlineMs: remainingMs });
  } catch (error) {
    if (isKubeError(error, 'conflict', 'notFound')) return 'somebody has written it meanwhile';
    throw error;
  }
  figures.reclaimed();
  log.info('Sent a stranded Mac back to its pool', { host: host.metadata.name, server: host.status?.name, release });
  events.event(host, buildEvent('Reclaimed', verdict.message));
  return undefined;
};

/** The macOS that it has: the pool it goes to is asked for that one. */
const releaseOf = ({ status }: MacHost, poolPrefix: string, message: string, now: number): Release => {
  return defined({
    poolPrefix,
    family: osFamilyKey(status?.osFamily ?? '') || undefined,
    reason: 'Stranded' as const,
    serverName: status?.name || undefined,
    message: message.slice(0, maxMessageLength),
    requestedAt: timestamp(now),
  });
};

const maxMessageLength = 1024;

const abortedEvent = (error: unknown): EventInput =>
  buildEvent(
    'ReclaimAborted',
    `It was to be put back into the pool, but whether a machine needs it could not be checked: ${error instanceof Error ? error.message : String(error)} Nothing was done with any Mac; it is tried again.`,
  );
