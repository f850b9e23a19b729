import { type MacHost, macHost, type MacHostStatus } from '@tartan/api';
import { type Client, type EventRecorder, getCondition, type Live, type Logger, patchStatus } from '@tartan/kube';
import type { HostPool } from '@tartan/scaleway';
import type { JudgeStranded, Trouble } from './conditions.ts';
import type { Guard } from './guard.ts';
import { abandonedNow, wipeFailed } from './happenings.ts';
import type { Observer } from './observe.ts';
import type { Snapshot } from './snapshot.ts';
import { statusOf } from './status.ts';

/** With what it is done. */
export interface Actor extends Observer, Guard {
  readonly client: Client;
  readonly pool: HostPool;
  readonly events: Pick<EventRecorder, 'event'>;
  readonly judgeStranded: JudgeStranded;
  readonly log: Logger;
}

/** To what: the MacHost as it was read, and what is known of its Mac. */
export interface Pass {
  readonly host: Live<MacHost>;
  readonly snapshot: Snapshot;
  readonly signal: AbortSignal;
}

/**
 * Writes down what is remembered and says what follows from it. Guarded by the gate and by the resource version: whoever leads no more,
 * or decided on an old copy of the MacHost, fails here, before anything is done to the server.
 */
export const remember = async (
  { client, gate, judgeStranded, events }: Actor,
  { host, snapshot, signal }: Pass,
  status: MacHostStatus = snapshot.status,
  trouble?: Trouble,
): Promise<Live<MacHost>> => {
  gate.pass();
  const next = statusOf(host, { ...snapshot, status }, judgeStranded, trouble);
  const written = await patchStatus(client, macHost.resource, host, next, { signal });
  const wiped = getCondition(next.conditions, 'Wiped');
  if (wiped?.reason === 'WipeFailed' && getCondition(host.status?.conditions, 'Wiped')?.reason !== 'WipeFailed')
    events.event(written, wipeFailed(wiped.message));
  const abandoned = getCondition(next.conditions, 'Abandoned');
  if (abandoned?.status === 'True' && getCondition(host.status?.conditions, 'Abandoned')?.status !== 'True')
    events.event(written, abandonedNow(abandoned.message));
  return written;
};
