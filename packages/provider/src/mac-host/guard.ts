import { isDeepStrictEqual } from 'node:util';
import { type MacHost, macHost } from '@tartan/api';
import type { Gate, Live } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { ScalewayError } from '@tartan/scaleway';
import { type PauseReader, readPausesOfHost } from '../pause/read-pauses.ts';

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
 * Guarantees: nothing is called unless this process leads, the MacHost is the same object with the same spec as when it was decided on,
 * and neither it nor what it belongs to is paused. Answers whether the call was made. Rejects with NotLeadingError, KubeError or what the call rejects with; a call that
 * the deadline cut short rejects with `no answer`.
 * Caveats: a process that freezes after that and thaws later can still send the request: Scaleway has nothing to fence with.
 */
export const guarded = async (
  { gate, client, coreClusters, clock }: Guard,
  decidedOn: Live<MacHost>,
  signal: AbortSignal,
  call: (options: { signal: AbortSignal }) => Promise<unknown>,
): Promise<'called' | 'changed' | 'paused'> => {
  const { remainingMs } = gate.pass();
  const deadline = new AbortController();
  const takeBack = clock.after(remainingMs * shareOfLease, () => deadline.abort(tooLate()));
  const options = { signal: AbortSignal.any([signal, deadline.signal]) };
  try {
    const { name } = decidedOn.metadata;
    const now = await client.get(macHost.resource, { name }, options);
    if (now.metadata.uid !== decidedOn.metadata.uid || !isDeepStrictEqual(now.spec, decidedOn.spec)) return 'changed';
    if ((await readPausesOfHost({ client, coreClusters }, now, options)).length > 0) return 'paused';
    // Timers are late in a process that was frozen while it read: only the clock tells.
    gate.pass();
    options.signal.throwIfAborted();
    await call(options);
    return 'called';
  } finally {
    takeBack();
  }
};

const tooLate = (): ScalewayError =>
  new ScalewayError(
    'Scaleway did not answer while this process was sure to lead. Whether it was done is unknown: it is looked at again.',
    { kind: 'no answer' },
  );
