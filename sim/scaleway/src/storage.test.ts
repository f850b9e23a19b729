import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import type { ScalewayOptions, ScalewayState, SimulatedScaleway } from './scaleway.ts';
import { standardImages } from './servers/images.ts';
import { startScaleway } from './start-scaleway.ts';
import { formatState, parseState } from './storage.ts';
import { sendRequest, sshKeysPath, zonePath, projectID, publicKey, secretKey } from './testing/requests.ts';

const [image] = standardImages();
assert(image);
const copy: ScalewayState = {
  servers: [
    {
      id: 'a',
      zone: 'fr-par-1',
      name: 'one',
      type: 'M2-L',
      status: 'reinstalling',
      os: image,
      installs: 0,
      mac: undefined,
      ip: '127.0.0.1:20000',
      projectID: 'p',
      createdAt: 1,
      updatedAt: 2,
      delivered: true,
      password: 'secret',
      underWay: { kind: 'reinstall', since: 2, image, outcome: 'wiped' },
    },
  ],
  keys: [{ id: 'k', name: 'key', publicKey: 'ssh-ed25519 AAAA', projectID: 'p', createdAt: 3 }],
};

/** The same with one value replaced. */
const spoiled = (from: string, to: string): string => {
  const text = formatState(copy);
  assert.ok(text.includes(from), from);
  return text.replace(from, to);
};

describe('a copy of servers and keys', () => {
  test('is read as it was written', () => {
    const { servers, keys } = parseState(formatState(copy));
    const { mac: _, ...server } = copy.servers[0] ?? assert.fail();
    assert.deepEqual([servers, keys], [[server], copy.keys]);
  });

  for (const [what, text, why] of [
    ['half of it', formatState(copy).slice(0, 200), /JSON/],
    ['nothing', '', /JSON/],
    ['no object', 'null', /its format is undefined/],
    ['a newer format', spoiled('"format": 1', '"format": 2'), /its format is 2, and this version knows 1 only/],
    ['no list', spoiled('"keys": [', '"key": ['), /it has no list of keys/],
    ['a server without its password', spoiled('"password": "secret"', '"password": null'), /server 1 has no password/],
    ['an image without a name', spoiled('"name": "macos', '"called": "macos'), /the image of server 1 has no name/],
    ['unknown work', spoiled('"kind": "reinstall"', '"kind": "sale"'), /under way with server 1 is unknown/],
    ['work without its begin', spoiled('"since": 2', '"since": "2"'), /the reinstall of server 1 has no since/],
    ['a key without its text', spoiled('"publicKey"', '"private"'), /key 1 has no publicKey/],
  ] as const) {
    test(`is refused if it is ${what}`, () => assert.throws(() => parseState(text), why));
  }
});

describe('the storage folder of Scaleway', () => {
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

  /** Does not stop the previous one: to the folder it looks killed. */
  const start = async (options: ScalewayOptions = {}): Promise<SimulatedScaleway> => {
    const scaleway = await startScaleway({ clock, pace: 1, secretKey, projectID, data, ...options });
    started.push(scaleway);
    return scaleway;
  };
  const file = (): string => join(data, 'scaleway.json');
  const order = (scaleway: SimulatedScaleway, name: string) => scaleway.order({ zone: 'fr-par-1', name });
  const readServer = async (scaleway: SimulatedScaleway, id: string) =>
    (await sendRequest(scaleway, `GET ${zonePath}/servers/${id}`)).body;

  test('servers and keys survive a restart, with all fields of the API', async () => {
    const first = await start();
    const { id } = await order(first, 'a');
    await first.order({ zone: 'fr-par-3', name: 'other' });
    await sendRequest(first, `POST ${sshKeysPath}`, { name: 'k', public_key: publicKey('k'), project_id: projectID });
    assert.equal((await sendRequest(first, `PATCH ${zonePath}/servers/${id}`, { name: 'b' })).status, 200);
    const second = await start();
    assert.deepEqual(await readServer(second, id), await readServer(first, id));
    const plain = (scaleway: SimulatedScaleway) => JSON.stringify([scaleway.servers(), scaleway.keys()]);
    assert.equal(plain(second), plain(first));
    await sendRequest(second, `DELETE ${sshKeysPath}/${second.keys()[0]?.id}`);
    assert.deepEqual((await start()).keys(), []);
  });

  test('has each change before the response, readable by its owner only, and no partial file', async () => {
    const scaleway = await start();
    const { id } = await order(scaleway, 'a');
    scaleway.faults.calls.push({ match: /PATCH/, times: 1, with: 'lost' });
    await assert.rejects(
      sendRequest(scaleway, `PATCH ${zonePath}/servers/${id}`, { name: 'done, and the answer lost' }),
    );
    assert.match(readFileSync(file(), 'utf8'), /"done, and the answer lost"/);
    assert.equal(statSync(file()).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(data), ['scaleway.json']);
  });

  test('has changes made in the console, with the next change and at the end', async () => {
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
    // Stopped late, the first one does not overwrite the folder of its successor.
    await first.stop();
    assert.equal((await start()).servers().length, 3);
  });

  test('continues a reboot and a reinstall for their remaining time', async () => {
    const first = await start();
    const rebooting = await order(first, 'a');
    const reinstalling = await order(first, 'b');
    await sendRequest(first, `POST ${zonePath}/servers/${rebooting.id}/reboot`, {});
    await sendRequest(first, `POST ${zonePath}/servers/${reinstalling.id}/reinstall`, {});
    const { vnc_url } = await readServer(first, reinstalling.id);
    clock.advance(60_000);
    const second = await start();
    const states = () => second.servers().map(({ status, installs }) => `${status} ${installs}`);
    assert.deepEqual(states(), ['rebooting 0', 'reinstalling 0']);
    clock.advance(30_000);
    assert.deepEqual(states(), ['ready 0', 'reinstalling 0']);
    clock.advance(10 * 60_000 - 90_000);
    assert.deepEqual(states(), ['ready 0', 'ready 1']);
    assert.equal((await readServer(second, reinstalling.id))['vnc_url'], vnc_url);
    // Changes over time are saved too.
    assert.deepEqual(
      (await start()).servers().map(({ status }) => status),
      ['ready', 'ready'],
    );
  });

  test('delivers servers that were ordered and not delivered yet', async () => {
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

  test('that cannot be read fails the start with a message, and is not changed', async () => {
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

  test('is not changed if the Macs do not start', async () => {
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

  test('that cannot be written makes the request fail with 500', async () => {
    const scaleway = await start();
    const { id } = await order(scaleway, 'a');
    rmSync(data, { recursive: true });
    assert.equal((await sendRequest(scaleway, `PATCH ${zonePath}/servers/${id}`, { name: 'b' })).status, 500);
    await assert.rejects(order(scaleway, 'c'), /ENOENT/);
    await assert.rejects(scaleway.stop(), /ENOENT/);
  });
});
