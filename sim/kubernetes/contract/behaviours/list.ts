import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { includes } from '../expect.ts';
import { secret } from '../objects.ts';
import { read, readList } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

export const list = topic('list', [
  behaviour('items come sorted by name, whatever the order of their creation', async (trial) => {
    const secrets = await trial.collection('secrets');
    for (const name of ['b', 'c', 'a', 'a-b', 'a.b']) await trial.create(secrets, secret(name));
    const found = await trial.fetch(secrets);
    assert.deepEqual(
      readList(found, 'items').map((item) => read(item, 'metadata.name')),
      ['a', 'a-b', 'a.b', 'b', 'c'],
    );
  }),

  behaviour('an empty list has an empty array and a resource version', async (trial) => {
    const found = await trial.fetch(await trial.collection('secrets'));
    includes(found, { kind: 'SecretList', apiVersion: 'v1', items: [] });
    assert.match(String(read(found, 'metadata.resourceVersion')), /^[1-9]\d*$/);
  }),

  behaviour('a namespace that does not exist has an empty list', async (trial) => {
    const found = await trial.fetch(`/api/v1/namespaces/${trial.unique('missing')}/secrets`);
    includes(found, { items: [] });
  }),

  behaviour(
    'items of a built-in kind come without apiVersion and kind, those of a custom resource with both',
    async (trial) => {
      const secrets = await trial.collection('secrets');
      await trial.create(secrets, secret('a'));
      const builtIn = read(await trial.fetch(secrets), 'items.0');
      assert.deepEqual([read(builtIn, 'apiVersion'), read(builtIn, 'kind')], [undefined, undefined]);
      const { collection, apiVersion } = await widgets(trial);
      const path = await collection();
      await trial.create(path, widget(apiVersion, 'a'));
      const found = await trial.fetch(path);
      includes(found, { apiVersion, kind: 'WidgetList' });
      includes(read(found, 'items.0'), { apiVersion, kind: 'Widget' });
    },
  ),

  behaviour('a list across all namespaces holds those of each', async (trial) => {
    const { collection, apiVersion, group } = await widgets(trial);
    const path = await collection();
    const name = trial.unique('everywhere');
    await trial.create(path, widget(apiVersion, name));
    const found = await trial.fetch(`/apis/${group}/v1/widgets?fieldSelector=metadata.name%3D${name}`);
    assert.deepEqual(
      readList(found, 'items').map((item) => read(item, 'metadata.namespace')),
      [await trial.namespace()],
    );
  }),

  behaviour('pretty=true indents, and without it machines get one line', async (trial) => {
    const secrets = await trial.collection('secrets');
    const curl = await trial.get(`${secrets}?pretty=true`);
    assert.match(curl.text, /\n {2}"kind": "SecretList"/);
    const plain = await trial.get(secrets);
    assert.equal(plain.text.trimEnd().includes('\n'), false);
  }),
]);
