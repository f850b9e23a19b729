import { macNames } from '@tartan/api';
import type { Mac } from '@tartan/sim-mac';

/** Something happens while the agent of a Mac does not look; it goes on afterwards, as the same process. */
export const withoutItsAgent = async (mac: Mac, happens: () => Promise<void>): Promise<void> => {
  const pid = mac.job(macNames.agentJob)?.pid;
  if (pid === undefined) throw new Error('no agent runs on this Mac');
  process.kill(pid, 'SIGSTOP');
  try {
    await happens();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
};
