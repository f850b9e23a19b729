import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { controllerManager } from './authentication/user.ts';
import { newObject } from './controllers/runtime/objects.ts';
import { ApiError } from './errors/api-error.ts';
import { createKubernetes, DataError } from './index.ts';

const newFolder = (t: TestContext): string => {
  const root = mkdtempSync(join(tmpdir(), 'tartan-kubernetes-data-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  return join(root, 'data');
};

describe('a control plane with a data folder', () => {
  it('keeps objects, certificate authority and tokens after a restart', async (t) => {
    const data = newFolder(t);
    const clock = manualClock();
    const first = await createKubernetes({ clock, data });
    clock.advance(1000);
    const configMaps = first.api.find('', 'configmaps') ?? assert.fail();
    const made = first.api.create(
      configMaps,
      'default',
      newObject('v1', 'ConfigMap', { name: 'a' }),
      controllerManager,
    );
    const claims = {
      namespace: 'default',
      serviceAccount: { name: 'x', uid: 'u' },
      audiences: ['here'],
      expirationSeconds: 60,
    };
    const { token } = await first.identity.signToken(claims);
    first.stop();

    const second = await createKubernetes({ clock, data });
    t.after(() => second.stop());
    assert.deepEqual(second.api.get(configMaps, 'default', 'a'), made);
    assert.equal(second.identity.caCertificate, first.identity.caCertificate);
    assert.equal((await second.identity.verifyToken(token, ['here']))?.namespace, 'default');
  });

  it('writes nothing at a second start', async (t) => {
    const data = newFolder(t);
    const clock = manualClock();
    const versions: string[] = [];
    for (let life = 0; life < 3; life++) {
      const kubernetes = await createKubernetes({ clock, data });
      clock.advance(1000);
      const { body } = (await kubernetes.handle({
        method: 'GET',
        path: '/api/v1/namespaces',
        query: new URLSearchParams(),
        headers: {},
        body: new Uint8Array(),
        certificate: { commonName: 'admin', organizations: ['system:masters'] },
        signal: new AbortController().signal,
      })) as { body: string };
      versions.push(JSON.parse(body).metadata.resourceVersion);
      kubernetes.stop();
    }
    assert.equal(versions[1], versions[2]);
  });

  it('is refused with damaged keys, and releases the folder', async (t) => {
    const data = newFolder(t);
    (await createKubernetes({ data })).stop();
    const file = new DatabaseSync(join(data, 'kubernetes.sqlite'));
    file.exec("UPDATE facts SET value = '{}' WHERE name = 'identity-keys'");
    file.close();
    for (let attempt = 0; attempt < 2; attempt++)
      await assert.rejects(
        createKubernetes({ data }),
        (error) => error instanceof DataError && error.problem === 'damaged',
      );
  });

  it('refuses writes after a stop', async (t) => {
    const clock = manualClock();
    const kubernetes = await createKubernetes({ clock, data: newFolder(t) });
    clock.advance(1000);
    kubernetes.stop();
    const configMaps = kubernetes.api.find('', 'configmaps') ?? assert.fail();
    const body = newObject('v1', 'ConfigMap', { name: 'a' });
    const write = () => kubernetes.api.create(configMaps, 'default', body, controllerManager);
    assert.throws(write, (error) => error instanceof ApiError && error.code === 503);
  });
});
