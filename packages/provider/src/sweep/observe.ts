import { machine, type MacHost, parseProviderID } from '@tartan/api';
import type { CallOptions } from '@tartan/kube';
import { type HostPool, ScalewayError } from '@tartan/scaleway';
import { readHost } from '../claim/claim-host.ts';
import type { Host, Machine } from '../controller-deps.ts';
import { abandonReason } from '../mac-host/snapshot.ts';
import type { PauseReader } from '../pause/pauses.ts';
import type { StrandedHost } from './decide.ts';

export const isStranded = ({ status }: MacHost): boolean => status?.state === 'stranded';

export const strandedFacts = ({ spec, status }: MacHost, pauses: readonly string[]): StrandedHost => ({
  name: status?.name,
  since: status?.since === undefined ? undefined : Date.parse(status.since),
  poolPrefix: spec.poolPrefix,
  hadHolder: spec.consumerRef !== undefined,
  pauses,
});

export interface ObserveDeps extends PauseReader {
  readonly pool: Pick<HostPool, 'getServer'>;
}

/**
 * The last look before a Mac is wiped, past all caches (E5). Answers the MacHost as the server has it: whoever acts on it guards the write with
 * this version. A text: it is not stranded, and why. Rejects when anything cannot be looked at: then nothing is known.
 *
 * The MacHost comes first and the machines last: a machine that appears afterwards takes the Mac by a write to the MacHost, which the
 * version that was read here does not survive.
 */
export const recheck = async (
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
