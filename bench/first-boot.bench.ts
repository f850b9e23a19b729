import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { convergeHost, type HostSpec } from '@tartan/host';
import { fleetKey, plantedSecrets, connectToMac, workingSpec } from '@tartan/host/testing';
import { type Mac, startMac } from '@tartan/sim-mac';
import type { Figure } from './figure.ts';

/**
 * The cost of simulated Macs: a whole first boot over SSH, of one and of many at once, and of an idle one. The waits of a real Mac are
 * shortened to a hundredth; the work is not.
 */

const many = 16;
const pace = 0.01;

const firstBoot = async (mac: Mac, spec: HostSpec, privateKey: string): Promise<void> => {
  const connection = await connectToMac(mac, privateKey);
  try {
    const outcome = await convergeHost(connection, spec, plantedSecrets(mac.user.password), {
      owner: 'bench',
      idle: true,
    });
    if (outcome.kind !== 'converged') throw new Error(`first boot: ${JSON.stringify(outcome)}`);
    if (outcome.optionalFailures.length > 0)
      throw new Error(outcome.optionalFailures.map(({ message }) => message).join());
  } finally {
    await connection.close();
  }
};

const resident = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().rss / 1e6;
};

export const run = async (say: (line: string) => void): Promise<Figure[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'tartan-bench-'));
  const macs: Mac[] = [];
  const { publicKey, privateKey } = fleetKey();
  const start = async (name: string): Promise<Mac> => {
    const mac = await startMac({
      folder: join(folder, name),
      pace,

      authorizedKeys: [publicKey],
    });
    macs.push(mac);
    return mac;
  };
  try {
    const spec = await workingSpec(join(folder, 'software'));
    const before = resident();
    const fresh = await Promise.all(Array.from({ length: many }, (_, index) => start(`mac-${index}`)));
    const each = (resident() - before) / many;
    say(`${many} idle Macs: ${each.toFixed(1)} MB each`);

    await firstBoot(await start('warm'), spec, privateKey);

    const one = await start('one');
    const startedOne = performance.now();
    await firstBoot(one, spec, privateKey);
    const oneSeconds = (performance.now() - startedOne) / 1000;
    say(`one Mac: ${oneSeconds.toFixed(1)} s`);

    const startedMany = performance.now();
    await Promise.all(fresh.map((mac) => firstBoot(mac, spec, privateKey)));
    const manySeconds = (performance.now() - startedMany) / 1000;
    say(`${many} Macs at once: ${manySeconds.toFixed(1)} s`);
    return [
      { what: 'first boot of one simulated Mac', value: oneSeconds, unit: 's', goal: '< 4' },
      { what: `first boot of ${many} at once`, value: manySeconds, unit: 's', goal: '< 20' },
      { what: 'memory of an idle Mac without its agent', value: each, unit: 'MB', goal: '< 10' },
    ];
  } finally {
    await Promise.all(macs.map((mac) => mac.stop()));
    await rm(folder, { recursive: true, force: true });
  }
};
