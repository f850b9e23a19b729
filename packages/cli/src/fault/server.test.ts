import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { configMaps } from '@tartan/kube';
import { jsonSchemas } from '../json-schemas.ts';
import { type Fault, PrerequisiteError } from './fault.ts';
import { discoveryConfigMap } from './protocol.ts';
import { type FaultServer, startFaultServer } from './server.ts';
import { startEmptySimulation } from './testing/empty-simulation.ts';

const aFault = (name: string, run: Fault['run']): Fault => ({
  name,
  title: `${name} goes wrong.`,
  watch: ['look'],
  run,
});

/** Resolves when the fault is under way, and when it is repaired. */
const longFault = () => {
  const begun = Promise.withResolvers<void>();
  const mended = Promise.withResolvers<void>();
  const fault = aFault('long', async ({ report, signal }) => {
    try {
      report('It lasts.');
      begun.resolve();
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      throw new Error('stopped');
    } finally {
      mended.resolve();
    }
  });
  return { fault, begun: begun.promise, mended: mended.promise };
};

describe('tartan fault', { timeout: 60_000 }, () => {
  let cluster: Awaited<ReturnType<typeof startEmptySimulation>>;
  before(async () => {
    cluster = await startEmptySimulation();
  });
  after(() => cluster.stop());

  const serving = async (faults: readonly Fault[], during: (open: FaultServer) => Promise<void>): Promise<void> => {
    const open = await startFaultServer(cluster.simulation, faults);
    try {
      await during(open);
    } finally {
      await open.stop();
    }
  };
  const shared = [
    aFault('short', async ({ report }) => {
      report('One thing\nhappens.');
      return 'All is well.';
    }),
    aFault('no-mac', async () => {
      throw new PrerequisiteError('No Mac is free.');
    }),
    aFault('harmful', async () => {
      throw new Error('a Mac was wiped');
    }),
  ];

  test('a cluster without a simulation is rejected', async () => {
    for (const args of [
      ['fault', 'list'],
      ['fault', 'short'],
    ]) {
      const { code, err } = await cluster.run(args);
      assert.equal(code, 2);
      assert.match(
        err,
        /: this cluster is not a simulated fleet\. Faults run only on a cluster that `tartan up` has started\.\n$/,
      );
    }
  });

  test('fault list prints a table and JSON', () =>
    serving(shared, async () => {
      const { code, out } = await cluster.run(['fault', 'list']);
      assert.equal(code, 0);
      assert.match(out, /^short +short goes wrong\.\nno-mac +no-mac goes wrong\.\n/);
      const { out: json } = await cluster.run(['fault', 'list', '-o', 'json']);
      jsonSchemas['fault list']?.parse(JSON.parse(json));
      assert.deepEqual(JSON.parse(json).faults[0], { name: 'short', title: 'short goes wrong.', watch: ['look'] });
    }));

  const endings: readonly [name: string, code: number, out: RegExp][] = [
    ['short', 0, /^short goes wrong\.\nWatch it with: look\nOne thing happens\.\nAll is well\.\n$/],
    ['no-mac', 1, /\nNo Mac is free\.\n$/],
    ['harmful', 1, /\nTartan did not react as expected: a Mac was wiped\n$/],
  ];
  for (const [name, code, said] of endings)
    test(`${name} ends with exit code ${code}`, () =>
      serving(shared, async () => {
        const { code: ended, out, err } = await cluster.run(['fault', name]);
        assert.match(out, said);
        assert.deepEqual([ended, err], [code, '']);
      }));

  test('an unknown name gets the closest name as suggestion', () =>
    serving(shared, async () => {
      const { code, err } = await cluster.run(['fault', 'shrot']);
      assert.deepEqual(
        [code, err],
        [2, 'tartan fault: unknown fault. Did you mean short? tartan fault list shows all.\n'],
      );
      for (const odd of ['../faults', '%', 'a/b', '']) assert.equal((await cluster.run(['fault', odd])).code, 2, odd);
    }));

  test('one fault runs at a time, and Ctrl-C repairs it', async () => {
    const { fault, begun, mended } = longFault();
    await serving([fault, ...shared], async () => {
      const asked = new AbortController();
      const running = cluster.run(['fault', 'long'], asked);
      await begun;
      const second = await cluster.run(['fault', 'short']);
      assert.deepEqual(
        [second.code, second.err],
        [2, 'tartan fault: long is already running: wait until it has ended, or stop it with Ctrl-C.\n'],
      );
      asked.abort();
      const { code, out } = await running;
      assert.equal(code, 130);
      assert.match(out, /It lasts\.\n$/);
      await mended;
    });
  });

  test('a simulation that stops during a fault repairs it first and says so', async () => {
    const { fault, begun, mended } = longFault();
    const open = await startFaultServer(cluster.simulation, [fault]);
    const running = cluster.run(['fault', 'long']);
    await begun;
    await open.stop();
    await mended;
    const { code, out } = await running;
    assert.equal(code, 130);
    assert.match(out, /\nStopped\. What was broken is repaired\.\n$/);
  });

  test('the socket is readable by its owner only and is removed at the end', async () => {
    const open = await startFaultServer(cluster.simulation, shared);
    assert.equal(statSync(open.socket).mode & 0o777, 0o600);
    assert.equal(statSync(dirname(open.socket)).mode & 0o777, 0o700);
    assert.ok(open.socket.length < 100);
    await open.stop();
    assert.equal(existsSync(dirname(open.socket)), false);
    assert.deepEqual((await cluster.admin.list(configMaps, { namespace: discoveryConfigMap.namespace })).items, []);
  });

  test('a stale socket has its own error message', async () => {
    const data = { faultSocket: '/nonexistent/faults' };
    await cluster.admin.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: discoveryConfigMap, data });
    const { code, err } = await cluster.run(['fault', 'list']);
    assert.equal(code, 2);
    assert.match(err, /`tartan up` does not answer: it has ended/);
    // The next start takes it over.
    await serving(shared, async () => assert.equal((await cluster.run(['fault', 'short'])).code, 0));
  });
});
