import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { macNames } from '@tartan/api';
import type { Mac } from '@tartan/sim-mac';

/** The peak memory of a process in bytes, as the Linux kernel counts it for a limit. */
export const peakMemory = (pid: number): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kilobytes === undefined) throw new Error(`the kernel does not say how much memory ${pid} has had`);
  return Number(kilobytes) * 1024;
};

/** Whether a process has a connection to this port of this machine. */
export const isConnectedTo = (pid: number, port: number): boolean => {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = new Set(
    readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , to]) => to?.endsWith(remote))
      .map((fields) => `socket:[${fields[9]}]`),
  );
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return sockets.has(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      // It was closed meanwhile.
      return false;
    }
  });
};

/** Runs `happens` while the agent of a Mac is stopped; then it continues, as the same process. */
export const withAgentPaused = async (mac: Mac, happens: () => Promise<void>): Promise<void> => {
  const pid = mac.job(macNames.agentJob)?.pid;
  if (pid === undefined) throw new Error('no agent runs on this Mac');
  process.kill(pid, 'SIGSTOP');
  try {
    await happens();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
};
