import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { manualClock } from '@tartan/kube/clock';
import { settle } from '@tartan/kube/testing';
import { createScaleway } from './create-scaleway.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const secretKey = '5e8d2c1b-7f60-4c39-9b1a-2f4e6d8c0a13';
const zone = 'fr-par-1';
const servers = `https://scaleway.invalid/apple-silicon/v1alpha1/zones/${zone}/servers`;
const headers = { 'x-auth-token': secretKey };

describe('Scaleway without sockets', () => {
  test('responds as over HTTP, with any host name', async () => {
    const scaleway = createScaleway({ clock: manualClock(), secretKey });
    const { id } = await scaleway.order({ zone, name: 'a' });
    const renamed = await scaleway.fetch(`${servers}/${id}`, { method: 'PATCH', headers, body: '{"name":"b"}' });
    assert.deepEqual([renamed.status, ((await renamed.json()) as { name: string }).name], [200, 'b']);
    assert.equal((await scaleway.fetch(servers)).status, 401);
    assert.match(scaleway.requests.join(), /^PATCH \/apple-silicon\/.*,GET \/apple-silicon\//);
    await scaleway.stop();
  });

  test('drops responses, and leaves requests pending until they are aborted', async () => {
    const scaleway = createScaleway({ clock: manualClock(), secretKey });
    const { id } = await scaleway.order({ zone, name: 'a' });
    scaleway.faults.calls.push({ match: /PATCH/, times: 1, with: 'lost' }, { match: /GET/, times: 1, with: 'hang' });
    await assert.rejects(
      scaleway.fetch(`${servers}/${id}`, { method: 'PATCH', headers, body: '{"name":"b"}' }),
      TypeError,
    );
    assert.equal(scaleway.servers()[0]?.name, 'b');
    const enough = new AbortController();
    let answer: unknown;
    void scaleway.fetch(servers, { headers, signal: enough.signal }).catch((error: unknown) => (answer = error));
    await settle();
    // The signal of a Request is silent once the Request itself is collected.
    collectGarbage();
    enough.abort('enough');
    await settle();
    assert.equal(answer, 'enough');
    await scaleway.stop();
  });

  test('continues from a copy, which the first one no longer changes', async () => {
    const first = createScaleway({ clock: manualClock(), secretKey });
    const server = await first.order({ zone, name: 'a' });
    const saved = first.save();
    server.name = 'b';
    const second = createScaleway({ clock: manualClock(), secretKey, saved });
    assert.deepEqual(
      second.servers().map(({ id, name, status }) => [id, name, status]),
      [[server.id, 'a', 'ready']],
    );
    assert.notEqual((await second.order({ zone, name: 'c' })).id, server.id);
    await Promise.all([first.stop(), second.stop()]);
  });
});
