import { isDeepStrictEqual } from 'node:util';
import { buildEvent, macHost, type MacHostStatus } from '@tartan/api';
import { type Client, type EventRecorder, type Gate, getCondition, type Logger, patchStatus } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { type HostPool, ScalewayError } from '@tartan/scaleway';
import type { Host } from '../controller-deps.ts';
import { type PauseReader, readHostPauseReasons } from '../pause/pauses.ts';
import type { ServerCache } from '../inventory/server-cache.ts';
import type { ObserveDeps } from './observe.ts';
import { abandonReason, type Snapshot } from './snapshot.ts';
import { type JudgeStranded, type ScalewayFailure, statusOf } from './status.ts';

interface GuardDeps extends PauseReader {
  readonly gate: Gate;
  readonly clock: Clock;
}

/** The rest is a margin for a slow clock and a late response. */
const shareOfLease = 0.8;

/**
 * Guards every call that changes a server.
 * Flow: the leader's gate; live reads of the MacHost and of what could pause it; the gate again; the call, all within the time that the
 * gate gave.
 * Guarantees: calls only if this process leads, the MacHost has the same UID and spec as when the call was decided, is not abandoned, and
 * neither it nor what it belongs to is paused; and not after `notAfter` (`callDeadline`). Returns whether the call was made. Rejects with
 * NotLeadingError, KubeError or the error of the call; with `no answer` if the deadline ended the call.
 * Caveats: a process that freezes after the checks can still send the request later: Scaleway has no fencing.
 */
export const callGuarded = async (
  { gate, client, coreClusters, clock }: GuardDeps,
  decidedOn: Host,
  signal: AbortSignal,
  call: (options: { signal: AbortSignal }) => Promise<unknown>,
  notAfter = Infinity,
): Promise<'called' | 'changed' | 'paused'> => {
  const { remainingMs } = gate.pass();
  const leftMs = Math.min(remainingMs * shareOfLease, notAfter - clock.now());
  if (leftMs <= 0) return 'changed';
  const deadline = new AbortController();
  const cancelDeadline = clock.after(leftMs, () => deadline.abort(deadlineExceeded()));
  const options = { signal: AbortSignal.any([signal, deadline.signal]) };
  try {
    const { name } = decidedOn.metadata;
    const now = await client.get(macHost.resource, { name }, options);
    if (now.metadata.uid !== decidedOn.metadata.uid || !isDeepStrictEqual(now.spec, decidedOn.spec)) return 'changed';
    if (abandonReason(now) !== undefined) return 'changed';
    if ((await readHostPauseReasons({ client, coreClusters }, now, options)).length > 0) return 'paused';
    // In a process that was frozen during the reads, timers are late: only the clock tells.
    gate.pass();
    if (clock.now() >= notAfter) return 'changed';
    options.signal.throwIfAborted();
    await call(options);
    return 'called';
  } finally {
    cancelDeadline();
  }
};

/** Until when a call may be made that is based on this read of the server: managers of other clusters rely on it (`claimConfirmMs`). */
export const callDeadline = ({ server, limits }: Pick<Snapshot, 'server' | 'limits'>): number =>
  server.kind === 'seen' ? server.at + limits.maxCallAgeMs : Infinity;

const deadlineExceeded = (): ScalewayError =>
  new ScalewayError(
    'Scaleway did not answer while this process was sure to lead. Whether it was done is unknown: it is looked at again.',
    { kind: 'no answer' },
  );

/** The dependencies of acting on a host. */
export interface ActDeps extends GuardDeps, Omit<ObserveDeps, 'clock'> {
  readonly client: Client;
  readonly serverCache: ServerCache;
  readonly pool: HostPool;
  readonly events: Pick<EventRecorder, 'event'>;
  readonly judgeStranded: JudgeStranded;
  readonly log: Logger;
}

/** The MacHost as it was read, and the observation of its Mac. */
export interface ReconcileContext {
  readonly host: Host;
  readonly snapshot: Snapshot;
  readonly signal: AbortSignal;
}

/**
 * Writes the records and the reported status. Guarded by the gate and by the resource version: a former leader, or a decision on a stale
 * MacHost, fails here, before anything is done to the server.
 */
export const writeStatus = async (
  { client, gate, judgeStranded, events }: ActDeps,
  { host, snapshot, signal }: ReconcileContext,
  status: MacHostStatus = snapshot.status,
  failure?: ScalewayFailure,
): Promise<Host> => {
  gate.pass();
  const next = statusOf(host, { ...snapshot, status }, judgeStranded, failure);
  const written = await patchStatus(client, macHost.resource, host, next, { signal });
  const wiped = getCondition(next.conditions, 'Wiped');
  if (wiped?.reason === 'WipeFailed' && getCondition(host.status?.conditions, 'Wiped')?.reason !== 'WipeFailed')
    events.event(written, buildEvent('WipeFailed', wiped.message));
  const abandoned = getCondition(next.conditions, 'Abandoned');
  if (abandoned?.status === 'True' && getCondition(host.status?.conditions, 'Abandoned')?.status !== 'True')
    events.event(written, buildEvent('Abandoned', abandoned.message));
  return written;
};
