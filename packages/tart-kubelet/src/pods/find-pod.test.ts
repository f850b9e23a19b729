import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Client, KubeError, type Live } from '@tartan/kube';
import { findByUid, findPod, identityOf } from './find-pod.ts';
import type { Pod } from './snapshot.ts';
import { examplePod } from './testing/example.ts';

const { signal } = new AbortController();
const mine = examplePod();
const stranger = examplePod(({ metadata }) => void (metadata.uid = 'uid-2'));

/** A server that answers like this, and what it was asked. */
const serverOf = (get: Live<Pod> | KubeError, list: Live<Pod>[] | KubeError = new KubeError('timeout', 'no list')) => {
  const asked: string[] = [];
  const client = {
    get: async (...[, { namespace, name }]: Parameters<Client['get']>) => {
      asked.push(`get ${namespace}/${name}`);
      if (get instanceof KubeError) throw get;
      return get;
    },
    list: async (...[, options]: Parameters<Client['list']>) => {
      asked.push(`list ${options?.fieldSelector}`);
      if (list instanceof KubeError) throw list;
      return { items: list, resourceVersion: '9' };
    },
  } as unknown as Client;
  return { asked, find: () => findPod(client, 'mac-1', identityOf(mine), signal), client };
};
const error = (reason: KubeError['reason']): KubeError => new KubeError(reason, `the server says ${reason}`);

describe('a Pod as the server has it now', () => {
  it('is found by its name', async () => {
    const { asked, find } = serverOf(mine);
    assert.equal(await find(), mine);
    assert.deepEqual(asked, ['get runners/runner-1']);
  });

  it('is gone when nobody has its name, or somebody else has', async () => {
    assert.equal(await serverOf(error('notFound')).find(), undefined);
    assert.equal(await serverOf(stranger).find(), undefined);
  });

  it('is looked for among those of the Node where the server will not speak of the name, as of one that is gone', async () => {
    const there = serverOf(error('forbidden'), [stranger, mine]);
    assert.equal(await there.find(), mine);
    assert.deepEqual(there.asked, ['get runners/runner-1', 'list spec.nodeName=mac-1']);
    assert.equal(await serverOf(error('forbidden'), [stranger]).find(), undefined);
  });

  it('is not gone because the server does not answer', async () => {
    await assert.rejects(serverOf(error('unreachable'), []).find(), /unreachable/);
    await assert.rejects(serverOf(error('forbidden'), error('forbidden')).find(), /forbidden/);
  });

  it('is found by its UID alone', async () => {
    const { asked, client } = serverOf(error('timeout'), [stranger, mine]);
    assert.equal(await findByUid(client, 'mac-1', 'uid-1', signal), mine);
    assert.equal(await findByUid(client, 'mac-1', 'uid-3', signal), undefined);
    assert.deepEqual(asked, ['list spec.nodeName=mac-1', 'list spec.nodeName=mac-1']);
  });
});
