import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { machine, macHost } from '@tartan/api';
import { hostSteps } from '@tartan/host';
import type { Page } from '../../output/view.ts';
import { startCluster } from '../../testing/cluster.ts';
import { aHost, aMachine } from '../../testing/objects.ts';
import type { MacProgress } from './mac-progress.ts';
import { watchFleet, type WatchFleetOptions } from './watch-fleet.ts';

type Server = ReturnType<WatchFleetOptions['servers']>[number];

test('a view is updated from the cluster and from the stamps on the disks of the Macs', {
  timeout: 60_000,
}, async (t) => {
  const cluster = await startCluster();
  const disk = mkdtempSync(join(tmpdir(), 'tartan-disk-'));
  t.after(() => {
    cluster.stop();
    rmSync(disk, { recursive: true, force: true });
  });
  const server = { id: 'h-1', mac: { path: (inside: string) => join(disk, inside) } } as unknown as Server;
  const stamps = join(disk, 'var/db/tartan/steps');
  await cluster.add(macHost.resource, aHost('h-1'));

  const [first, second] = hostSteps.map(({ title }) => title);
  const enough = new AbortController();
  const told: string[] = [];
  const progress = async ([mac]: readonly MacProgress[]): Promise<void> => {
    const done = mac?.steps.filter((step) => step.done).length;
    const news = mac === undefined ? 'no machine' : `${mac.machine} ${done} ${mac.what}`;
    if (told.at(-1) === news) return;
    told.push(news);
    if (news === 'no machine')
      await cluster.add(machine.resource, aMachine('mac-1', { phase: 'Bootstrapping', serverID: 'h-1' }));
    if (news === `mac-1 0 ${first}`) {
      mkdirSync(stamps, { recursive: true });
      writeFileSync(join(stamps, hostSteps[0]?.name ?? ''), '');
    }
    if (news === `mac-1 1 ${second}`) enough.abort();
  };
  const pages: Page[] = [];
  await watchFleet(
    {
      connection: cluster.connection,
      servers: () => [server],
      view: { progress: (macs) => void progress(macs), fleet: (page) => void pages.push(page) },
    },
    enough.signal,
  );
  // It may be seen before it has a status.
  assert.deepEqual(
    told.filter((news) => news !== 'mac-1 0 waits for a Mac'),
    ['no machine', `mac-1 0 ${first}`, `mac-1 1 ${second}`],
  );
  assert.equal(pages.at(-1)?.tables[0]?.rows[0]?.cells[0], 'mac-1');
});
