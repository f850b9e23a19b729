import { createHash } from 'node:crypto';

/** Step to hash: what a host should bear, or bears. */
export type Stamps = Readonly<Record<string, string>>;

/**
 * All stamps of a host in one short word. The agent publishes it on its Node; whoever wants to know whether a host is up to date
 * compares it with that of the stamps that the host should bear, and connects to nothing.
 */
export const summaryOf = (stamps: Stamps): string => {
  const lines = Object.entries(stamps).map(([step, hash]) => `${step}\t${hash}\n`);
  return createHash('sha256').update(lines.sort().join('')).digest('hex').slice(0, 16);
};
