import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { type Mac, startMac } from '@tartan/sim-mac';
import type { HostSpec } from '../host-spec.ts';
import { hostSteps } from '../steps/index.ts';
import { connectToMac, fleetKey } from '../testing/connect-to-mac.ts';
import { stride } from '../testing/crash-injection.ts';
import { agentEvents } from '../testing/stand-in-agent.ts';
import { plantedSecrets, workingSpec } from '../testing/working-spec.ts';
import { convergeHost } from './converge-host.ts';
import type { HostEvent, HostOutcome } from './host-outcome.ts';
import { summaryHash } from './step-hash.ts';

/** All real steps over real SSH, interrupted at each start and end. */
describe('a host prepared over SSH', () => {
  let folder: string;
  let spec: HostSpec;
  const macs: Mac[] = [];
  const { publicKey, privateKey } = fleetKey();
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-ssh-'));
    spec = await workingSpec(join(folder, 'artifacts'));
  });
  after(async () => {
    await Promise.all(macs.map((mac) => mac.stop()));
    rmSync(folder, { recursive: true, force: true });
  });

  const freshMac = async (): Promise<Mac> => {
    const mac = await startMac({ folder: join(folder, `mac-${macs.length}`), authorizedKeys: [publicKey] });
    macs.push(mac);
    return mac;
  };

  /** One run; `cutAt` says at which event our side disconnects. */
  const run = async (mac: Mac, owner: string, cutAt: (event: HostEvent) => boolean): Promise<HostOutcome> => {
    const connection = await connectToMac(mac, privateKey, { pinnedHostKey: mac.hostKey() });
    try {
      return await convergeHost(connection, spec, plantedSecrets(mac.user.password), {
        owner,
        idle: true,
        report: (event) => {
          if (cutAt(event)) void connection.close();
        },
      });
    } finally {
      await connection.close();
    }
  };

  /** An interrupted script continues on the host, and holds the lock until it ends: so this retries. */
  const runToTheEnd = async (mac: Mac, owner = 'test'): Promise<HostOutcome> => {
    for (;;) {
      const outcome = await run(mac, owner, () => false);
      if (outcome.kind !== 'locked') return outcome;
    }
  };

  const isAsWanted = (outcome: HostOutcome): void => {
    assert.equal(outcome.kind, 'converged', outcome.kind === 'step failed' ? outcome.error.message : outcome.kind);
    assert.ok(outcome.kind === 'converged');
    assert.deepEqual(outcome.optionalFailures, []);
    assert.equal(outcome.summary, summaryHash(spec));
  };

  for (const [offset, kind] of (['step started', 'step finished'] as const).entries()) {
    test(`continues after the connection is lost as soon as each ${kind.replace('step ', 'step has ')}`, async () => {
      const mac = await freshMac();
      const cut: string[] = [];
      const tried = hostSteps.filter((_, index) => index % stride === offset % stride);
      for (const { name } of tried) {
        // A step that the host completed after the cut does not run again.
        let met = false;
        for (;;) {
          const outcome = await run(mac, 'test', (event) => {
            const isIt = event.kind === kind && event.step === name;
            met ||= isIt;
            return isIt;
          });
          if (outcome.kind === 'locked') continue;
          if (met) assert.equal(outcome.kind, 'connection lost');
          break;
        }
        if (met) cut.push(name);
      }
      isAsWanted(await runToTheEnd(mac));
      assert.ok(cut.length > tried.length / 2, `cut at ${cut.join(', ')}`);
      assert.ok(agentEvents(mac).every(({ event }) => event !== 'refused'));
    });
  }

  test('is completed by another process when the first one is killed', async () => {
    const mac = await freshMac();
    const job = join(folder, 'job.json');
    writeFileSync(job, JSON.stringify({ spec, address: mac.address, user: mac.user, privateKey }), { mode: 0o600 });
    const pusher = spawn(process.execPath, [join(import.meta.dirname, '../testing/pusher.ts'), job], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface({ input: pusher.stdout })) if (line === 'vm-egress') break;
    pusher.kill('SIGKILL');
    await once(pusher, 'exit');
    const other = await run(mac, 'another pusher', () => false);
    assert.equal(other.kind, 'locked');
    assert.ok(other.kind === 'locked' && other.by.startsWith('pusher'));
    isAsWanted(await runToTheEnd(mac, 'pusher'));
  });
});
