import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { type Mac, startMac } from '@tartan/sim-mac';
import type { SimulatedScaleway, SimulatedServer } from './scaleway.ts';
import { startScaleway } from './start-scaleway.ts';
import { sendRequest, sshKeysPath, zonePath, projectID, publicKey, secretKey } from './testing/requests.ts';

describe('the Mac behind a server', () => {
  let folder: string;
  let clock: ManualClock;
  let scaleway: SimulatedScaleway;
  let server: SimulatedServer;
  let mac: Mac;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-scaleway-'));
    clock = manualClock();
    scaleway = await startScaleway({
      clock,
      pace: 1,
      secretKey,
      projectID,
      startMac: ({ id, password, authorizedKeys }) =>
        startMac({ folder: join(folder, id), pace: 0, user: { password }, authorizedKeys }),
    });
    await register('first');
    server = await scaleway.order({ zone: 'fr-par-1', name: 'pool-1' });
    assert(server.mac);
    mac = server.mac;
  });
  after(async () => {
    await scaleway.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    scaleway.faults.reinstallFails.clear();
    scaleway.faults.reinstallDoesNotWipe.clear();
  });

  const register = (name: string) =>
    sendRequest(scaleway, `POST ${sshKeysPath}`, { name, public_key: publicKey(name), project_id: projectID });
  const registered = () => sendRequest(scaleway, `GET ${sshKeysPath}?project_id=${projectID}`);
  const authorized = async (): Promise<string[]> =>
    (await mac.run('cat ~/.ssh/scw_authorized_keys')).stdout.split('\n').filter((line) => line !== '');
  const begin = async (what: 'reboot' | 'reinstall'): Promise<void> => {
    assert.equal((await sendRequest(scaleway, `POST ${zonePath}/servers/${server.id}/${what}`, {})).status, 200);
  };
  /** Lets the duration of the state pass, and waits for the Mac, which runs in real time. */
  const finish = async (): Promise<string> => {
    const state = server.status;
    clock.advance(10 * 60_000);
    while (server.status === state) await sendRequest(scaleway, `GET ${zonePath}/servers/${server.id}`);
    return server.status;
  };
  const passwordTold = async (): Promise<string> => {
    const { body } = await sendRequest(scaleway, `GET ${zonePath}/servers/${server.id}`);
    return decodeURIComponent(new URL(String(body['vnc_url'])).password);
  };

  test('has the keys of the project that were registered at the order, and the password that the API returns', async () => {
    assert.deepEqual(await authorized(), [publicKey('first')]);
    assert.equal(await passwordTold(), mac.user.password);
    const { body } = await sendRequest(scaleway, `GET ${zonePath}/servers/${server.id}`);
    assert.equal(body['ip'], `${mac.address.host}:${mac.address.port}`);
  });

  test('keeps its disk and its host key over a reboot, and gets no key registered later (INC-330)', async () => {
    const hostKey = mac.hostKey();
    await mac.run('echo kept >f');
    await register('second');
    await begin('reboot');
    assert.equal(await finish(), 'ready');
    assert.equal((await mac.run('cat f')).stdout, 'kept\n');
    assert.equal(mac.hostKey(), hostKey);
    assert.deepEqual(await authorized(), [publicKey('first')]);
  });

  test('after a reinstall has an empty disk, a new host key, a new password and the current keys', async () => {
    const [hostKey, password] = [mac.hostKey(), mac.user.password];
    await mac.run('echo mine >f');
    assert.equal((await registered()).body['total_count'], 2);
    await begin('reinstall');
    assert.equal(await finish(), 'ready');
    assert.notEqual(mac.hostKey(), hostKey);
    assert.notEqual(mac.user.password, password);
    assert.equal(await passwordTold(), mac.user.password);
    assert.notEqual((await mac.run('cat f')).code, 0);
    assert.deepEqual(await authorized(), [publicKey('first'), publicKey('second')]);
    assert.equal(server.installs, 1);
  });

  for (const whose of ['Scaleway', 'the Mac'] as const) {
    test(`is unchanged after a reinstall that does not wipe, a fault of ${whose} (decision 5)`, async () => {
      const [hostKey, password, { installs }] = [mac.hostKey(), mac.user.password, server];
      await mac.run('echo still here >f');
      if (whose === 'Scaleway') scaleway.faults.reinstallDoesNotWipe.add(server.id);
      else mac.faults.reinstallDoesNotWipe = true;
      await begin('reinstall');
      assert.equal(await finish(), 'ready');
      mac.faults.reinstallDoesNotWipe = false;
      assert.equal((await mac.run('cat f')).stdout, 'still here\n');
      assert.deepEqual([mac.hostKey(), await passwordTold(), server.installs], [hostKey, password, installs]);
    });
  }

  test('is unreachable after a failed reinstall, until one succeeds', async () => {
    await mac.run('echo mine >f');
    scaleway.faults.reinstallFails.add(server.id);
    await begin('reinstall');
    assert.equal(await finish(), 'error');
    assert.equal(mac.faults.ssh, 'refuse');
    assert.notEqual((await mac.run('cat f')).code, 0);
    scaleway.faults.reinstallFails.clear();
    await begin('reinstall');
    assert.equal(await finish(), 'ready');
    assert.equal(mac.faults.ssh, 'normal');
  });

  test('is started by a reboot if it was down', async () => {
    await mac.powerOff();
    await begin('reboot');
    assert.equal(await finish(), 'ready');
    assert.equal((await mac.run('echo up')).stdout, 'up\n');
  });

  test('whose power is cut during a reboot is started by the next reboot', async () => {
    await begin('reboot');
    await mac.powerOff();
    // Whether the power went before or after the Mac was up again, the next reboot finds it off.
    await finish();
    assert.equal(mac.isOn(), false);
    await begin('reboot');
    await finish();
    assert.equal(mac.isOn(), true);
    server.status = 'ready';
  });

  test('gets the keys of its own project only', async () => {
    const given: (readonly string[])[] = [];
    const other = await startScaleway({
      secretKey,
      scope: 'organization',
      startMac: ({ authorizedKeys }) => {
        given.push(authorizedKeys);
        return Promise.reject(new Error('only looking'));
      },
    });
    try {
      const theirs = '55555555-5555-4555-8555-555555555555';
      for (const owner of [projectID, theirs]) {
        await sendRequest(other, `POST ${sshKeysPath}`, {
          name: owner,
          public_key: publicKey(owner),
          project_id: owner,
        });
      }
      await assert.rejects(other.order({ zone: 'fr-par-1', name: 'x', projectID: theirs }), /only looking/);
      assert.deepEqual(given, [[publicKey(theirs)]]);
    } finally {
      await other.stop();
    }
  });

  test('that does not start makes the order fail, and leaves no server', async () => {
    const broken = await startScaleway({ startMac: () => Promise.reject(new Error('no power')) });
    try {
      await assert.rejects(broken.order({ zone: 'fr-par-1', name: 'x' }), /no power/);
      assert.deepEqual(broken.servers(), []);
    } finally {
      await broken.stop();
    }
  });

  test('that is stopped during a reboot is started by the next Scaleway', async () => {
    const rebooting = Promise.withResolvers<void>();
    const options = { clock, pace: 1, secretKey, projectID, data: join(folder, 'data') };
    const other = await startScaleway({
      ...options,
      startMac: async () => ({ ...mac, reboot: () => rebooting.promise, stop: async () => rebooting.resolve() }),
    });
    const { id } = await other.order({ zone: 'fr-par-1', name: 'x' });
    await sendRequest(other, `POST ${zonePath}/servers/${id}/reboot`, {});
    clock.advance(90_000);
    await other.stop();
    const next = await startScaleway(options);
    try {
      assert.equal(next.servers()[0]?.status, 'rebooting');
      clock.advance(0);
      assert.equal(next.servers()[0]?.status, 'ready');
    } finally {
      await next.stop();
    }
  });

  test('is stopped with Scaleway, also while it is being started', async () => {
    let stopped = 0;
    const stop = mac.stop.bind(mac);
    const slow = Promise.withResolvers<Mac>();
    const other = await startScaleway({ startMac: () => slow.promise });
    const ordering = other.order({ zone: 'fr-par-1', name: 'x' });
    const stopping = other.stop();
    // Wait until it does not listen any more, and only waits for that Mac.
    await assert.rejects(async () => {
      for (;;) await fetch(other.url);
    });
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    slow.resolve({ ...mac, stop: async () => void stopped++ });
    await ordering;
    await stopping;
    assert.equal(stopped, 1);
    await scaleway.stop();
    await assert.rejects(mac.run('true'), /down/);
    await stop();
  });
});
