import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Mac, MacOptions } from '../mac.ts';
import { startMac } from '../start-mac.ts';

/** A Mac, as its process reports it. */
export interface MacProcess extends Pick<Mac, 'address' | 'user'> {
  readonly fingerprint: string;
  /** SIGKILL: saves and ends nothing. */
  kill(): Promise<void>;
}

const optionsVariable = 'TARTAN_MAC_TO_KILL';

/** Simulates a Mac in its own process. */
export const startMacProcess = async (options: Omit<MacOptions, 'clock'>): Promise<MacProcess> => {
  const child = spawn(process.execPath, [import.meta.filename], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, [optionsVariable]: JSON.stringify(options) },
  });
  const exited = once(child, 'exit');
  const [line] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), exited])) as unknown[];
  if (typeof line !== 'string') throw new Error('the process of the Mac ended before the Mac was up');
  return {
    ...(JSON.parse(line) as Pick<MacProcess, 'address' | 'user' | 'fingerprint'>),
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
};

if (import.meta.main) {
  const { address, user, hostKey } = await startMac(JSON.parse(process.env[optionsVariable] ?? '') as MacOptions);
  process.stdout.write(`${JSON.stringify({ address, user, fingerprint: hostKey() })}\n`);
  // Exits when the test process ends without killing it.
  process.stdin.resume().once('end', () => process.exit());
}
