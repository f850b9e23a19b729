import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Mac } from '@tartan/sim-mac';
import { type AgentFlags, parseFlags } from './flags.ts';
import { traitsOf, type Traits } from './stand-in-agent.ts';

const label = 'dev.tuist.tart-kubelet';
const release = '/usr/local/lib/tart-kubelet/current';

/** One process of the agent, from its start to its end. */
export interface Launched {
  readonly pid: number;
  readonly flags: AgentFlags;
  /** Of the release that it was started from. */
  readonly traits: Traits;
}

/** The process that launchd runs as the agent now. */
export const agentPid = (mac: Pick<Mac, 'job'>): number | undefined => {
  const job = mac.job(label);
  return job?.state === 'running' ? job.pid : undefined;
};

/** A file that may not be there: the Mac is being wiped, or was never prepared. */
export const textAt = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/**
 * What runs, if it runs at all: an agent whose arguments are not those that its release expects exits by itself (architecture.md
 * decision 9), and so is nobody here.
 */
export const launchedAgent = (mac: Pick<Mac, 'job' | 'path'>): Launched | undefined => {
  const pid = agentPid(mac);
  if (pid === undefined) return undefined;
  // Behind the runtime and the script.
  const words = mac.job(label)?.arguments.slice(2) ?? [];
  const flags = parseFlags(words);
  const expected = textAt(mac.path(`${release}/arguments`))?.trim();
  if (flags === undefined || (expected !== undefined && expected !== hashOf(words))) return undefined;
  return { pid, flags, traits: traitsOf(textAt(mac.path(`${release}/tart-kubelet.mjs`)) ?? '') };
};

export const hashOf = (words: readonly string[]): string =>
  createHash('sha256')
    .update(words.map((word) => `${word}\0`).join(''))
    .digest('hex');
