import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { SimulatedScaleway, SimulatedServer } from './scaleway.ts';
import { startScaleway } from './start-scaleway.ts';
import { sendRequest, zonePath } from './testing/requests.ts';
import { startScalewayProcess, withMacs } from './testing/scaleway-process.ts';

interface ListedServer {
  readonly id: string;
  readonly name: string;
  readonly ip: string;
  readonly status: string;
}

describe('Scaleway after a kill of its process and its Macs', () => {
  let folder: string;
  let servers: readonly ListedServer[];
  let again: SimulatedScaleway;
  const squatter = createServer();
  const list = async (scaleway: Pick<SimulatedScaleway, 'url'>): Promise<ListedServer[]> =>
    (await sendRequest(scaleway, `GET ${zonePath}/servers`)).body['servers'] as ListedServer[];
  const server = (name: string): SimulatedServer =>
    again.servers().find((each) => each.name === name) ?? assert.fail(name);
  const file = async (name: string): Promise<string> => (await server(name).mac?.run('cat f'))?.stdout ?? '';

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-scaleway-'));
    const first = await startScalewayProcess(folder);
    try {
      const [, b] = await list(first);
      assert.equal((await sendRequest(first, `POST ${zonePath}/servers/${b?.id}/reinstall`, {})).status, 200);
      servers = await list(first);
    } finally {
      await first.kill();
    }
    squatter.listen(Number(servers[2]?.ip.split(':')[1]), '127.0.0.1');
    await once(squatter, 'listening');
    again = await startScaleway(withMacs(folder, 0.0001));
  });
  after(async () => {
    squatter.close();
    await again.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('has the same servers, each with its Mac, its disk and its address', async () => {
    const now = await list(again);
    assert.deepEqual(
      now.map(({ id, name }) => [id, name]),
      servers.map(({ id, name }) => [id, name]),
    );
    assert.deepEqual(
      now.slice(0, 2).map(({ ip }) => ip),
      servers.slice(0, 2).map(({ ip }) => ip),
    );
    assert.equal(await file('a'), 'mine\n');
  });

  test('has another address for a server whose port is now in use', async () => {
    const [was, now] = [servers[2]?.ip, (await list(again))[2]?.ip];
    const { address } = server('c').mac ?? assert.fail();
    assert.notEqual(now, was);
    assert.equal(now, `${address.host}:${address.port}`);
    assert.equal(await file('c'), 'mine\n');
  });

  test('finishes the running reinstall: the Mac is empty and has the password that the API returns', async () => {
    assert.equal(servers[1]?.status, 'reinstalling');
    while (server('b').status === 'reinstalling') await list(again);
    const { body } = await sendRequest(again, `GET ${zonePath}/servers/${server('b').id}`);
    assert.deepEqual([body['status'], server('b').installs, await file('b')], ['ready', 1, '']);
    assert.equal(decodeURIComponent(new URL(String(body['vnc_url'])).password), server('b').mac?.user.password);
  });
});
