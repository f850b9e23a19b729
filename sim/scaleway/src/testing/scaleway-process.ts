import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Mac, startMac } from '@tartan/sim-mac';
import type { ScalewayOptions } from '../scaleway.ts';
import { startScaleway } from '../start-scaleway.ts';
import { projectID, secretKey } from './requests.ts';

const folderVariable = 'TARTAN_SCALEWAY_TO_KILL';

/** Scaleway with simulated Macs, all below one folder. */
export const withMacs = (
  folder: string,
  pace: number,
): ScalewayOptions & Required<Pick<ScalewayOptions, 'startMac'>> => ({
  secretKey,
  projectID,
  pace,
  data: join(folder, 'scaleway'),
  startMac: ({ id, password, authorizedKeys, port = 0 }): Promise<Mac> =>
    startMac({ folder: join(folder, id), pace: 0, port, user: { password }, authorizedKeys }),
});

/** The same in a separate process, with three servers, until it is killed. Operations that take time never end there. */
export const startScalewayProcess = async (folder: string): Promise<{ url: string; kill(): Promise<void> }> => {
  const child = spawn(process.execPath, [import.meta.filename], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, [folderVariable]: folder },
  });
  const exited = once(child, 'exit');
  const [url] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), exited])) as unknown[];
  if (typeof url !== 'string') throw new Error('the process of Scaleway ended before it was up');
  return {
    url,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
};

if (import.meta.main) {
  const { startMac: start, ...options } = withMacs(process.env[folderVariable] ?? '', 1);
  const scaleway = await startScaleway({
    ...options,
    // Accepted, but never begun: the worst moment for a kill.
    startMac: async (server) => ({ ...(await start(server)), reinstall: () => new Promise(() => {}) }),
  });
  for (const name of ['a', 'b', 'c']) {
    const { mac } = await scaleway.order({ zone: 'fr-par-1', name });
    await mac?.run('echo mine >f');
  }
  process.stdout.write(`${scaleway.url}\n`);
  process.stdin.resume().once('end', () => process.exit());
}
