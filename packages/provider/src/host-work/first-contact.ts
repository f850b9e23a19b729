import { type HostConnection, type Inventory, preparationSteps, readInventory } from '@tartan/host';
import { outcomeOfCut, unreadable } from './host-outcome.ts';
import type { HostJob, WorkOutcome } from './host-work.ts';

/** A host key of an earlier install: that install is still there, whatever was asked of Scaleway since (decision 5). */
export const retiredKeyMet = (hostKey: string, { pinnedHostKey, retiredHostKeys }: HostJob): WorkOutcome | undefined =>
  pinnedHostKey === undefined && retiredHostKeys.includes(hostKey)
    ? notWiped(hostKey, `it shows the SSH host key ${hostKey} of an earlier install`)
    : undefined;

/**
 * The first time that a machine meets this install of its Mac.
 *
 * Flow: look for what an earlier machine left → `pin` the host key.
 * Guarantees: nothing is changed on the Mac. Once it has answered undefined, the key is stored, and every later connection is held
 * against it. Rejects when the key could not be stored, with what `pin` says.
 */
export const firstContact = async (
  connection: HostConnection,
  job: HostJob,
  signal: AbortSignal,
): Promise<WorkOutcome | undefined> => {
  const read = await readInventory(connection, signal);
  if (read.kind === 'unreadable') return unreadable(read.cause);
  if (read.kind !== 'read') return outcomeOfCut(read);
  const traces = tracesOf(read.inventory);
  if (traces !== undefined) return notWiped(connection.hostKey, traces);
  await job.pin(connection.hostKey);
  return undefined;
};

/** A Mac that people prepared by `tartan prepare-host` bears these stamps, and is nobody's yet. */
const prepared = new Set(preparationSteps.map(({ name }) => name));

const tracesOf = ({ stamps, agentRelease }: Inventory): string | undefined => {
  const foreign = Object.keys(stamps).filter((step) => !prepared.has(step));
  if (foreign.length > 0) return `it bears stamps of steps that this machine never ran (${foreign.sort().join(', ')})`;
  return agentRelease === undefined ? undefined : `it has a release of the agent (${agentRelease})`;
};

const notWiped = (hostKey: string, because: string): WorkOutcome => ({
  kind: 'not wiped',
  hostKey,
  message: `The Mac was not wiped after its last machine: ${because}. Nothing was changed on it. It has to be reinstalled.`,
});
