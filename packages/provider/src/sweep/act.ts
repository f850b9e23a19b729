import { buildEvent, machine, type MacHost, parseProviderID } from '@tartan/api';
import {
  type CallOptions,
  type Client,
  type EventInput,
  type EventRecorder,
  type Gate,
  ignoreStale,
  type Logger,
  NotLeadingError,
} from '@tartan/kube';
import { type Clock, timestamp } from '@tartan/kube/clock';
import { type HostPool, osFamilyKey, ScalewayError } from '@tartan/scaleway';
import { readHost, type Release, releaseHost } from '../claim/claim-host.ts';
import type { Host, Machine } from '../controller-deps.ts';
import { omitUndefined } from '../omit-undefined.ts';
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
 * Releases one Mac that the caches call stranded.
 * Flow: live reads, a new verdict, the gate, one guarded write of the MacHost. The MacHost controller wipes it.
 * Guarantees: a Mac that a machine needs is never released: either the live reads find the machine, or the machine's claim makes the write
 * conflict. Idempotent after a crash.
 * Returns why the Mac was left alone: it is no longer stranded, or the write conflicted. Rejects when it could not be checked: then no Mac
 * may be wiped, this or any other.
 */
export const reclaim = async (reclaimer: ReclaimDeps, seen: Host, signal: AbortSignal): Promise<string | undefined> => {
  try {
    const found = await recheck(reclaimer, seen.metadata.name, { signal });
    return typeof found === 'string' ? found : await releaseStranded(reclaimer, found, signal);
  } catch (error) {
    // Stopping, or not leading, says nothing about the Mac.
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

/** The family that it has, which its pool expects. */
const releaseOf = ({ status }: MacHost, poolPrefix: string, message: string, now: number): Release => {
  return omitUndefined({
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
 * The last check before a Mac is wiped, with live reads only (E5). Returns the MacHost, whose version guards the write; or a text: why it
 * is not stranded. Rejects when anything cannot be read: then nothing is known.
 * Reads the MacHost first and the machines last: a machine that appears afterwards claims the Mac by a write to the MacHost, which makes
 * the write with this version fail.
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

/** A Mac, and its present name at Scaleway. */
interface FoundServer {
  readonly host: Host;
  readonly serverName: string;
}

/**
 * The machine that may still need this Mac, if there is one, even if it is being deleted: it has reserved the Mac, is bound to it, or has
 * its name (E2: the rename is part of a claim, so a name counts before anything else is written). Its holder does not need it if it
 * provably has another one.
 */
export const ownerOf = (found: FoundServer, machines: readonly Machine[]): Machine | undefined =>
  machines.find((machine) => mayNeed(machine, found));

const mayNeed = ({ metadata, spec, status }: Machine, { host, serverName }: FoundServer): boolean => {
  const id = host.metadata.name;
  const bound = parseProviderID(spec.providerID ?? '')?.serverID;
  if (status?.serverID === id || bound === id) return true;
  const isHolder = host.spec.consumerRef?.uid === metadata.uid;
  // Both must agree, since the providerID never changes once the machine is provisioned: a status may have been edited by hand
  // (tuist/tuist#10858).
  const livesElsewhere = !!status?.serverID && status.serverID === bound;
  return isHolder ? !livesElsewhere : metadata.name === serverName;
};
