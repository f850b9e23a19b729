import { buildEvent, machine, type MacHost, parseProviderID } from '@tartan/api';
import {
  type CallOptions,
  type Client,
  type EventInput,
  type EventRecorder,
  type Gate,
  type Logger,
  NotLeadingError,
} from '@tartan/kube';
import { type Clock, timestamp } from '@tartan/kube/clock';
import { type HostPool, osFamilyKey, ScalewayError } from '@tartan/scaleway';
import { readHost, type Release, releaseHost } from '../claim/claim-host.ts';
import type { Host, Machine } from '../controller-deps.ts';
import { defined } from '../defined.ts';
import { ignoreStale } from '../ignore-stale.ts';
import { abandonReason } from '../mac-host/snapshot.ts';
import { type PauseReader, readHostPauseReasons } from '../pause/pauses.ts';
import { type ReclaimPolicy, type StrandedHost, strandedVerdict } from './decide.ts';
import type { SweepMetrics } from './metrics.ts';

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
  const released = await ignoreStale(releaseHost(client, host, release, { signal, deadlineMs: remainingMs }));
  if (released === undefined) return 'somebody has written it meanwhile';
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

export const isStranded = ({ status }: MacHost): boolean => status?.state === 'stranded';

export const strandedFacts = ({ spec, status }: MacHost, pauses: readonly string[]): StrandedHost => ({
  name: status?.name,
  since: status?.since === undefined ? undefined : Date.parse(status.since),
  poolPrefix: spec.poolPrefix,
  hadHolder: spec.consumerRef !== undefined,
  pauses,
});

interface ObserveDeps extends PauseReader {
  readonly pool: Pick<HostPool, 'getServer'>;
}

/**
 * The last look before a Mac is wiped, past all caches (E5). Answers the MacHost as the server has it: whoever acts on it guards the write with
 * this version. A text: it is not stranded, and why. Rejects when anything cannot be looked at: then nothing is known.
 *
 * The MacHost comes first and the machines last: a machine that appears afterwards takes the Mac by a write to the MacHost, which the
 * version that was read here does not survive.
 */
const recheck = async (
  { client, pool }: ObserveDeps,
  name: string,
  { signal }: { signal: AbortSignal },
): Promise<Host | string> => {
  const call: CallOptions = { signal };
  const host = await readHost(client, name, call);
  if (host === undefined) return 'its MacHost is gone';
  if (abandonReason(host) !== undefined) return 'a person has abandoned it';
  if (host.spec.release !== undefined || !isStranded(host)) return 'its MacHost says so';
  const server = await pool.getServer(host.spec.zone, name, { signal }).catch(ignoreNotFound);
  if (server === undefined) return 'Scaleway does not know it any more';
  if (server.name !== host.status?.name) return `it is called ${server.name} now`;
  const { items } = await client.list(machine.resource, call);
  const owner = ownerOf({ host, serverName: server.name }, items);
  if (owner) return `the machine ${owner.metadata.namespace}/${owner.metadata.name} may need it`;
  return host;
};

const ignoreNotFound = (error: unknown): undefined => {
  if (error instanceof ScalewayError && error.kind === 'not found') return undefined;
  throw error;
};

/** A Mac, and its name at Scaleway as it is right now. */
interface FoundServer {
  readonly host: Host;
  readonly serverName: string;
}

/**
 * The machine that may still need this Mac, if there is one; also one that is being deleted. Whoever has reserved it, is bound to it, or
 * bears its name (E2: the rename is part of a claim, so a name counts before anything else is written).
 * Its holder does not need it if it is known to live on another one.
 */
export const ownerOf = (found: FoundServer, machines: readonly Machine[]): Machine | undefined =>
  machines.find((machine) => mayNeed(machine, found));

const mayNeed = ({ metadata, spec, status }: Machine, { host, serverName }: FoundServer): boolean => {
  const id = host.metadata.name;
  const bound = parseProviderID(spec.providerID ?? '')?.serverID;
  if (status?.serverID === id || bound === id) return true;
  const isHolder = host.spec.consumerRef?.uid === metadata.uid;
  // Both say so, and one of them never changes once the machine is provisioned: a status alone may have been edited by hand (tuist/tuist#10858).
  const livesElsewhere = !!status?.serverID && status.serverID === bound;
  return isHolder ? !livesElsewhere : metadata.name === serverName;
};
