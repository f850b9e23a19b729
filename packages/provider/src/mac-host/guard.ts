import { isDeepStrictEqual } from 'node:util';
import { type MacHost, macHost } from '@tartan/api';
import type { Gate, Live } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { ScalewayError } from '@tartan/scaleway';
import { type PauseReader, readPausesOfHost } from '../pause/read-pauses.ts';
import { abandonedBecause } from './abandoned.ts';
import type { Snapshot } from './snapshot.ts';

export interface Guard extends PauseReader {
  readonly gate: Gate;
  readonly clock: Clock;
}

/** What is left over is for a clock that runs slower than the others', and for an answer that comes late. */
const shareOfLease = 0.8;

/**
 * The way to every call that changes a server (architecture, decision 6).
 *
 * Flow: the gate of the leader; the MacHost, and what could pause it, read anew; the gate once more; the call, all of it within the time
 * that the gate gave.
 * Guarantees: nothing is called unless this process leads, the MacHost is the same object with the same spec as when it was decided on, not
 * abandoned by a person, and neither it nor what it belongs to is paused; nor after `notAfter` (`lastMoment`). Answers whether the call was
 * made. Rejects with NotLeadingError, KubeError or what the call rejects with; a call that
 * the deadline cut short rejects with `no answer`.
 * Caveats: a process that freezes after that and thaws later can still send the request: Scaleway has nothing to fence with.
 */
export const guarded = async (
  { gate, client, coreClusters, clock }: Guard,
  decidedOn: Live<MacHost>,
  signal: AbortSignal,
  call: (options: { signal: AbortSignal }) => Promise<unknown>,
  notAfter = Infinity,
): Promise<'called' | 'changed' | 'paused'> => {
  const { remainingMs } = gate.pass();
  const leftMs = Math.min(remainingMs * shareOfLease, notAfter - clock.now());
  if (leftMs <= 0) return 'changed';
  const deadline = new AbortController();
  const takeBack = clock.after(leftMs, () => deadline.abort(tooLate()));
  const options = { signal: AbortSignal.any([signal, deadline.signal]) };
  try {
    const { name } = decidedOn.metadata;
    const now = await client.get(macHost.resource, { name }, options);
    if (now.metadata.uid !== decidedOn.metadata.uid || !isDeepStrictEqual(now.spec, decidedOn.spec)) return 'changed';
    if (abandonedBecause(now) !== undefined) return 'changed';
    if ((await readPausesOfHost({ client, coreClusters }, now, options)).length > 0) return 'paused';
    // Timers are late in a process that was frozen while it read: only the clock tells.
    gate.pass();
    if (clock.now() >= notAfter) return 'changed';
    options.signal.throwIfAborted();
    await call(options);
    return 'called';
  } finally {
    takeBack();
  }
};

/** Until when a call may be made that was decided on this look at the server: managers of other clusters count on it (`settleMs`). */
export const lastMoment = ({ server, limits }: Pick<Snapshot, 'server' | 'limits'>): number =>
  server.kind === 'seen' ? server.at + limits.landMs : Infinity;

const tooLate = (): ScalewayError =>
  new ScalewayError(
    'Scaleway did not answer while this process was sure to lead. Whether it was done is unknown: it is looked at again.',
    { kind: 'no answer' },
  );
