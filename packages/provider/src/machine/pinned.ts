import type { Observation } from './observe.ts';
import type { Machine } from './record.ts';

/**
 * The host key that the Mac must show. It counts for the install that it was met on: of this server, and no older than its last reinstall
 * (G-09). Anything else would lock us out of a Mac that was wiped, or trust one that is another. The Secret first, where people look
 * for it; who loses that has not lost the key (G-05).
 */
export const pinnedKey = (
  { metadata, status }: Machine,
  { login, snapshot }: Pick<Observation, 'login' | 'snapshot'>,
): string | undefined => {
  if (snapshot.host.kind !== 'present') return undefined;
  const stored = login?.serverID === status?.serverID ? login?.hostFingerprint : undefined;
  // The status was lost; the Secret goes with the Mac, so its key is of this install.
  if (status?.hostKeyEpoch === undefined) return login?.machineUID === metadata.uid ? stored : undefined;
  return status.hostKeyEpoch === snapshot.host.installs ? (stored ?? status.hostKey) : undefined;
};
