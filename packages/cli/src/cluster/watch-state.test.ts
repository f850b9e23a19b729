import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, test } from 'node:test';
import { macHost } from '@tartan/api';
import { showView, type ViewOptions } from '../output/view.ts';
import { startCluster } from '../testing/cluster.ts';
import { aHost } from '../testing/objects.ts';
import { fleetView } from '../views/fleet.ts';

/** Watches a cluster with one Mac, and returns the output until the second one shows. */
const followed = async (
  t: { after(fn: () => void): void },
  options: Omit<ViewOptions, 'watch'>,
  isTTY: boolean,
): Promise<string[]> => {
  const cluster = await startCluster();
  t.after(() => cluster.stop());
  await cluster.add(macHost.resource, aHost('h-1'));
  const stop = new AbortController();
  const parts: string[] = [];
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      parts.push(String(chunk));
      if (parts.length === 1) void cluster.add(macHost.resource, aHost('h-2'));
      if (String(chunk).includes('tuist-pool-h-2') || /h-2 .*pool/s.test(String(chunk))) stop.abort();
      done();
    },
  });
  const stdout = Object.assign(sink, { isTTY, columns: 80 });
  const code = await showView(
    fleetView,
    { ...options, watch: true },
    cluster.connection,
    { stdout, style: { colours: false } },
    stop.signal,
  );
  assert.equal(code, 0);
  return parts;
};

describe('--watch', () => {
  test('redraws in place on a terminal', { timeout: 60_000 }, async (t) => {
    const parts = await followed(t, { output: 'table' }, true);
    for (const part of parts) assert.ok(part.startsWith('\u001B[H') && part.endsWith('\u001B[J'));
    assert.match(parts.at(-1) ?? '', /h-1[^]*h-2/);
  });

  test('prints only changed rows when stdout is not a terminal', { timeout: 60_000 }, async (t) => {
    const [first = '', ...more] = await followed(t, { output: 'table' }, false);
    assert.match(first, /^HOST +STATE[^]*h-1/);
    assert.ok(more.length > 0 && more.every((line) => line.startsWith('-   -   -   h-2 ')), more.join(''));
  });

  test('prints one JSON document per line with -o json', { timeout: 60_000 }, async (t) => {
    const parts = await followed(t, { output: 'json' }, false);
    assert.deepEqual(
      parts.map((line) => JSON.parse(line).schema),
      parts.map(() => 'tartan.fleet/v1'),
    );
    assert.equal(JSON.parse(parts.at(-1) ?? '').macs.length, 2);
  });
});
