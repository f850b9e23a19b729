import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import type { ScalewayOptions, SimulatedScaleway } from '../scaleway.ts';
import { startScaleway } from '../start-scaleway.ts';
import { ask, keys, macs, projectID, publicKey, secretKey } from '../testing/ask.ts';

describe('what Scaleway keeps in a folder', () => {
  let root: string;
  let data: string;
  let clock: ManualClock;
  let started: SimulatedScaleway[];
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'tartan-scaleway-'));
    data = join(root, 'a/new/one');
    clock = manualClock();
    started = [];
  });
  afterEach(async () => {
    for (const scaleway of started) await scaleway.stop().catch(() => {});
    rmSync(root, { recursive: true, force: true });
  });

  /** The one before is not stopped: it was killed, as far as the folder knows. */
  const start = async (options: ScalewayOptions = {}): Promise<SimulatedScaleway> => {
    const scaleway = await startScaleway({ clock, pace: 1, secretKey, projectID, data, ...options });
    started.push(scaleway);
    return scaleway;
  };
  const file = (): string => join(data, 'scaleway.json');
  const order = (scaleway: SimulatedScaleway, name: string) => scaleway.order({ zone: 'fr-par-1', name });
  const told = async (scaleway: SimulatedScaleway, id: string) =>
    (await ask(scaleway, `GET ${macs}/servers/${id}`)).body;

  test('is there again with the next one: servers, with all that the API tells of them, and keys', async () => {
    const first = await start();
    const { id } = await order(first, 'a');
    await first.order({ zone: 'fr-par-3', name: 'other' });
    await ask(first, `POST ${keys}`, { name: 'k', public_key: publicKey('k'), project_id: projectID });
    assert.equal((await ask(first, `PATCH ${macs}/servers/${id}`, { name: 'b' })).status, 200);
    const second = await start();
    assert.deepEqual(await told(second, id), await told(first, id));
    const plain = (scaleway: SimulatedScaleway) => JSON.stringify([scaleway.servers(), scaleway.keys()]);
    assert.equal(plain(second), plain(first));
    await ask(second, `DELETE ${keys}/${second.keys()[0]?.id}`);
    assert.deepEqual((await start()).keys(), []);
  });

  test('has each change before the answer, for its owner only, and nothing half-written beside it', async () => {
    const scaleway = await start();
    const { id } = await order(scaleway, 'a');
    scaleway.faults.calls.push({ match: /PATCH/, times: 1, with: 'lost' });
    await assert.rejects(ask(scaleway, `PATCH ${macs}/servers/${id}`, { name: 'done, and the answer lost' }));
    assert.match(readFileSync(file(), 'utf8'), /"done, and the answer lost"/);
    assert.equal(statSync(file()).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(data), ['scaleway.json']);
  });

  test('has what a person in the console changed, with the next change and at the end', async () => {
    const first = await start();
    const server = await order(first, 'a');
    server.name = 'renamed by hand';
    await order(first, 'b');
    server.status = 'locked';
    await first.stop();
    const second = await start();
    assert.deepEqual(
      second.servers().map(({ name, status }) => [name, status]),
      [
        ['renamed by hand', 'locked'],
        ['b', 'ready'],
      ],
    );
    await order(second, 'c');
    // Stopped twice, it leaves the folder to those who came after it.
    await first.stop();
    assert.equal((await start()).servers().length, 3);
  });

  test('goes on with a reboot and a reinstall for the time that they still need', async () => {
    const first = await start();
    const rebooting = await order(first, 'a');
    const reinstalling = await order(first, 'b');
    await ask(first, `POST ${macs}/servers/${rebooting.id}/reboot`, {});
    await ask(first, `POST ${macs}/servers/${reinstalling.id}/reinstall`, {});
    const { vnc_url } = await told(first, reinstalling.id);
    clock.advance(60_000);
    const second = await start();
    const states = () => second.servers().map(({ status, installs }) => `${status} ${installs}`);
    assert.deepEqual(states(), ['rebooting 0', 'reinstalling 0']);
    clock.advance(30_000);
    assert.deepEqual(states(), ['ready 0', 'reinstalling 0']);
    clock.advance(10 * 60_000 - 90_000);
    assert.deepEqual(states(), ['ready 0', 'ready 1']);
    assert.equal((await told(second, reinstalling.id))['vnc_url'], vnc_url);
    // Also what became of them by itself is kept.
    assert.deepEqual(
      (await start()).servers().map(({ status }) => status),
      ['ready', 'ready'],
    );
  });

  test('delivers what was ordered and not delivered yet', async () => {
    const slow = Promise.withResolvers<never>();
    const ordering = order(await start({ startMac: () => slow.promise }), 'a');
    const second = await start();
    slow.reject(new Error('no power'));
    await assert.rejects(ordering, /no power/);
    assert.deepEqual((await start()).servers(), [], 'an order that failed is not delivered later');
    assert.deepEqual(
      second.servers().map(({ name, status }) => [name, status]),
      [['a', 'ready']],
    );
  });

  test('that cannot be read stops the start with a sentence, and stays as it is', async () => {
    await order(await start(), 'a');
    const half = readFileSync(file(), 'utf8').slice(0, -40);
    writeFileSync(file(), half);
    await assert.rejects(startScaleway({ data }), (error: Error) => {
      assert.ok(error.message.includes(file()), error.message);
      assert.match(
        error.message,
        /cannot be read: it is no JSON\. Nothing was changed\. Put a copy .* or move the file away/,
      );
      return true;
    });
    assert.equal(readFileSync(file(), 'utf8'), half);
  });

  test('is left as it is by one whose Macs do not start', async () => {
    await order(await start(), 'a');
    const before = readFileSync(file(), 'utf8');
    const tries = start({
      startMac: async () => {
        writeFileSync(file(), before.replace('"a"', '"changed by the other one"'));
        throw new Error('on already');
      },
    });
    await assert.rejects(tries, /on already/);
    assert.match(readFileSync(file(), 'utf8'), /changed by the other one/);
  });

  test('that cannot be written is an error for whoever asked', async () => {
    const scaleway = await start();
    const { id } = await order(scaleway, 'a');
    rmSync(data, { recursive: true });
    assert.equal((await ask(scaleway, `PATCH ${macs}/servers/${id}`, { name: 'b' })).status, 500);
    await assert.rejects(order(scaleway, 'c'), /ENOENT/);
    await assert.rejects(scaleway.stop(), /ENOENT/);
  });
});
