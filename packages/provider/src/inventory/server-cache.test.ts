import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSecret } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import type { Server } from '@tartan/scaleway';
import { createServerCache } from './server-cache.ts';

const minute = 60_000;
const zone = 'fr-par-1';
const server = (id: string, name = id): Server => ({
  id,
  zone,
  name,
  type: 'M2-L',
  status: 'ready',
  delivered: true,
  os: undefined,
  ip: '198.18.0.1',
  sshUsername: 'm1',
  password: createSecret('secret'),
  createdAt: '',
});

const setUp = () => {
  const clock = manualClock();
  const serverCache = createServerCache({ clock });
  const heard: string[] = [];
  const end = serverCache.subscribe((id) => heard.push(id));
  return {
    clock,
    serverCache,
    end,
    kind: (id: string) => serverCache.get(zone, id).kind,
    name: (id: string) => {
      const observed = serverCache.get(zone, id);
      return observed.kind === 'seen' ? observed.server.name : undefined;
    },
    list: (...servers: Server[]) => serverCache.replaceZone(zone, servers, clock.now()),
    /** The notifications since the last call. */
    heard: () => heard.splice(0),
  };
};

describe('the server cache', () => {
  it('trusts a list for five minutes, and for three intervals if those are longer', () => {
    for (const [intervalMs, trustedMs] of [
      [minute, 5 * minute],
      [20 * minute, 60 * minute],
    ] as const) {
      const clock = manualClock();
      const serverCache = createServerCache({ clock, intervalMs });
      serverCache.replaceZone(zone, [server('a')], clock.now());
      clock.advance(trustedMs);
      assert.equal(serverCache.get(zone, 'a').kind, 'seen');
      clock.advance(1);
      assert.equal(serverCache.get(zone, 'a').kind, 'unknown');
    }
  });

  it('is unknown before the first list, then has seen and missing servers', () => {
    const { serverCache, kind, list } = setUp();
    assert.deepEqual(serverCache.get(zone, 'a'), { kind: 'unknown', why: '' });
    list(server('a'));
    assert.deepEqual([kind('a'), kind('b')], ['seen', 'missing']);
    assert.equal(serverCache.get('fr-par-3', 'a').kind, 'unknown');
    serverCache.clear();
    assert.equal(kind('a'), 'unknown');
  });

  it('notifies of changed and removed servers, and of nothing else', () => {
    const { list, heard, end } = setUp();
    list(server('a'), server('b'), server('c'));
    assert.deepEqual(heard(), ['a', 'b', 'c']);
    list(server('a'), server('b', 'renamed'));
    assert.deepEqual(heard(), ['b', 'c']);
    list(server('a'), server('b', 'renamed'));
    assert.deepEqual(heard(), []);
    end();
    list();
    assert.deepEqual(heard(), []);
  });

  it('a live read wins over a list that was begun before it, and loses to one begun after', () => {
    const { serverCache, clock, name, heard, kind } = setUp();
    const begun = clock.now();
    clock.advance(10);
    serverCache.setServer(zone, 'a', server('a', 'new'), clock.now());
    assert.deepEqual(heard(), ['a']);
    clock.advance(10);
    serverCache.replaceZone(zone, [server('a', 'old')], begun);
    assert.equal(name('a'), 'new');
    serverCache.replaceZone(zone, [server('a', 'newest')], clock.now());
    assert.equal(name('a'), 'newest');
    serverCache.setServer(zone, 'a', server('a', 'late'), begun);
    assert.equal(name('a'), 'newest');
    serverCache.setServer(zone, 'a', undefined, clock.now());
    assert.equal(kind('a'), 'missing');
  });

  it('keeps entries when lists fail, and notifies once when they are stale', () => {
    const { serverCache, clock, list, kind, heard } = setUp();
    list(server('a'));
    heard();
    const fail = () => serverCache.zoneFailed(zone, 'Scaleway is out.');
    clock.advance(5 * minute);
    fail();
    assert.equal(kind('a'), 'seen');
    assert.deepEqual(heard(), []);
    clock.advance(1);
    fail();
    fail();
    assert.deepEqual(serverCache.get(zone, 'a'), { kind: 'unknown', why: 'Scaleway is out.' });
    assert.deepEqual(heard(), ['a']);
    list(server('a'));
    assert.equal(kind('a'), 'seen');
    assert.deepEqual(heard(), ['a']);
    clock.advance(5 * minute + 1);
    fail();
    assert.deepEqual(heard(), ['a'], 'of the next outage, too');
  });

  it('a live read is valid even if the list of its zone is stale', () => {
    const { serverCache, clock, list, kind } = setUp();
    list(server('a'), server('b'));
    clock.advance(6 * minute);
    serverCache.setServer(zone, 'a', server('a'), clock.now());
    assert.deepEqual([kind('a'), kind('b')], ['seen', 'unknown']);
  });
});
