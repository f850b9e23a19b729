import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { includes, refused } from '../expect.ts';
import { pod, secret } from '../objects.ts';
import { readyForPods } from '../pods.ts';
import { namesOf, read, readList } from '../read.ts';
import type { BehaviourContext } from '../behaviour-context.ts';
import { widget, widgets } from '../widgets.ts';

export const list = topic('list', [
  behaviour('items are sorted by name, whatever the order of their creation', async (context) => {
    const secrets = await context.collection('secrets');
    for (const name of ['b', 'c', 'a', 'a-b', 'a.b']) await context.create(secrets, secret(name));
    const found = await context.fetch(secrets);
    assert.deepEqual(
      readList(found, 'items').map((item) => read(item, 'metadata.name')),
      ['a', 'a-b', 'a.b', 'b', 'c'],
    );
  }),

  behaviour('an empty list has an empty array and a resource version', async (context) => {
    const found = await context.fetch(await context.collection('secrets'));
    includes(found, { kind: 'SecretList', apiVersion: 'v1', items: [] });
    assert.match(String(read(found, 'metadata.resourceVersion')), /^[1-9]\d*$/);
  }),

  behaviour('a missing namespace has an empty list', async (context) => {
    const found = await context.fetch(`/api/v1/namespaces/${context.unique('missing')}/secrets`);
    includes(found, { items: [] });
  }),

  behaviour(
    'items of a built-in kind have no apiVersion and kind, those of a custom resource have both',
    async (context) => {
      const secrets = await context.collection('secrets');
      await context.create(secrets, secret('a'));
      const builtIn = read(await context.fetch(secrets), 'items.0');
      assert.deepEqual([read(builtIn, 'apiVersion'), read(builtIn, 'kind')], [undefined, undefined]);
      const { collection, apiVersion } = await widgets(context);
      const path = await collection();
      await context.create(path, widget(apiVersion, 'a'));
      const found = await context.fetch(path);
      includes(found, { apiVersion, kind: 'WidgetList' });
      includes(read(found, 'items.0'), { apiVersion, kind: 'Widget' });
    },
  ),

  behaviour('a list across all namespaces has the objects of each', async (context) => {
    const { collection, apiVersion, group } = await widgets(context);
    const path = await collection();
    const name = context.unique('everywhere');
    await context.create(path, widget(apiVersion, name));
    const found = await context.fetch(`/apis/${group}/v1/widgets?fieldSelector=metadata.name%3D${name}`);
    assert.deepEqual(
      readList(found, 'items').map((item) => read(item, 'metadata.namespace')),
      [await context.namespace()],
    );
  }),

  behaviour('pretty=true indents; other responses are one line', async (context) => {
    const secrets = await context.collection('secrets');
    const curl = await context.get(`${secrets}?pretty=true`);
    assert.match(curl.text, /\n {2}"kind": "SecretList"/);
    const plain = await context.get(secrets);
    assert.equal(plain.text.trimEnd().includes('\n'), false);
  }),
]);

const five = async (context: BehaviourContext): Promise<string> => {
  const secrets = await context.collection('secrets');
  for (const name of ['a', 'b', 'c', 'd', 'e']) await context.create(secrets, secret(name, { all: 'yes' }));
  return secrets;
};

const tokenOf = (page: unknown): string => encodeURIComponent(String(read(page, 'metadata.continue')));

export const pagination = topic('pagination', [
  behaviour('pages follow each other with the remaining count, and the last has no token', async (context) => {
    const secrets = await five(context);
    const first = await context.fetch(`${secrets}?limit=2`);
    assert.deepEqual(namesOf(first), ['a', 'b']);
    assert.equal(read(first, 'metadata.remainingItemCount'), 3);
    const second = await context.fetch(`${secrets}?limit=2&continue=${tokenOf(first)}`);
    assert.deepEqual(namesOf(second), ['c', 'd']);
    assert.equal(read(second, 'metadata.remainingItemCount'), 1);
    const third = await context.fetch(`${secrets}?limit=2&continue=${tokenOf(second)}`);
    assert.deepEqual(namesOf(third), ['e']);
    assert.equal(read(third, 'metadata.remainingItemCount'), undefined);
    assert.equal(read(third, 'metadata.continue'), undefined);
  }),

  behaviour('later pages have the state and the resource version of the first', async (context) => {
    const secrets = await five(context);
    const first = await context.fetch(`${secrets}?limit=2`);
    await context.create(secrets, secret('bb'));
    await context.remove(`${secrets}/d`);
    const rest = await context.fetch(`${secrets}?limit=10&continue=${tokenOf(first)}`);
    assert.deepEqual(namesOf(rest), ['c', 'd', 'e']);
    assert.equal(read(rest, 'metadata.resourceVersion'), read(first, 'metadata.resourceVersion'));
  }),

  behaviour('with a selector there is no remaining count', async (context) => {
    const secrets = await five(context);
    const first = await context.fetch(`${secrets}?limit=2&labelSelector=all%3Dyes`);
    assert.deepEqual(namesOf(first), ['a', 'b']);
    assert.equal(read(first, 'metadata.remainingItemCount'), undefined);
    const rest = await context.fetch(`${secrets}?limit=10&labelSelector=all%3Dyes&continue=${tokenOf(first)}`);
    assert.deepEqual(namesOf(rest), ['c', 'd', 'e']);
  }),

  behaviour('a limit that fits everything gives no token', async (context) => {
    const secrets = await five(context);
    const page = await context.fetch(`${secrets}?limit=5`);
    assert.equal(namesOf(page).length, 5);
    assert.equal(read(page, 'metadata.continue'), undefined);
  }),

  behaviour('an invalid token is a bad request', async (context) => {
    refused(await context.get(`${await context.collection('secrets')}?limit=1&continue=xx`), {
      code: 400,
      reason: 'BadRequest',
      message: /^invalid continue token: /,
    });
  }),

  behaviour('a token and a resource version exclude each other', async (context) => {
    const secrets = await five(context);
    const token = tokenOf(await context.fetch(`${secrets}?limit=2`));
    refused(await context.get(`${secrets}?limit=2&continue=${token}&resourceVersion=4`), {
      code: 400,
      reason: 'BadRequest',
      message: 'specifying resource version is not allowed when using continue',
    });
  }),

  behaviour('a negative limit is no limit', async (context) => {
    const secrets = await five(context);
    assert.equal(namesOf(await context.fetch(`${secrets}?limit=-1`)).length, 5);
  }),
]);

const select = async (
  context: BehaviourContext,
  path: string,
  kind: 'label' | 'field',
  selector: string,
): Promise<string> => {
  const found = await context.fetch(`${path}?${kind}Selector=${encodeURIComponent(selector)}`);
  return readList(found, 'items')
    .map((item) => read(item, 'metadata.name'))
    .join(' ');
};

export const selectors = topic('selectors', [
  behaviour('label selectors: =, ==, !=, in, notin, exists, absent, and all of them joined', async (context) => {
    const secrets = await context.collection('secrets');
    await context.create(secrets, secret('a', { tier: 'one', zone: 'x' }));
    await context.create(secrets, secret('b', { tier: 'two' }));
    await context.create(secrets, secret('c'));
    const expected = {
      'tier=one': 'a',
      'tier==one': 'a',
      'tier!=one': 'b c',
      'tier in (one,two)': 'a b',
      'tier in (one, three)': 'a',
      'tier notin (one)': 'b c',
      tier: 'a b',
      '!tier': 'c',
      'tier,zone=x': 'a',
      'tier,!zone': 'b',
      'tier in (two),zone': '',
      'tier=': '',
      '': 'a b c',
    };
    for (const [selector, names] of Object.entries(expected)) {
      assert.equal(await select(context, secrets, 'label', selector), names, selector);
    }
  }),

  behaviour('gt and lt compare integers', async (context) => {
    const secrets = await context.collection('secrets');
    await context.create(secrets, secret('a', { cpu: '2' }));
    await context.create(secrets, secret('b', { cpu: '10' }));
    assert.equal(await select(context, secrets, 'label', 'cpu>2'), 'b');
    assert.equal(await select(context, secrets, 'label', 'cpu<10'), 'a');
  }),

  behaviour('invalid label selectors are bad requests with the position', async (context) => {
    const secrets = await context.collection('secrets');
    const expected = {
      'a===b': "unable to parse requirement: found '=', expected: identifier",
      'a in (b': "unable to parse requirement: found '', expected: ',' or ')'",
      '!!a': "unable to parse requirement: found '!', expected: identifier",
    };
    for (const [selector, message] of Object.entries(expected)) {
      const answer = await context.get(`${secrets}?labelSelector=${encodeURIComponent(selector)}`);
      refused(answer, { code: 400, reason: 'BadRequest', message });
    }
  }),

  behaviour('metadata.name and metadata.namespace select any kind', async (context) => {
    const secrets = await context.collection('secrets');
    await context.create(secrets, secret('a'));
    await context.create(secrets, secret('b'));
    assert.equal(await select(context, secrets, 'field', 'metadata.name=a'), 'a');
    assert.equal(await select(context, secrets, 'field', 'metadata.name!=a'), 'b');
    assert.equal(await select(context, secrets, 'field', `metadata.namespace=${await context.namespace()}`), 'a b');
    assert.equal(await select(context, secrets, 'field', 'metadata.namespace=elsewhere'), '');
  }),

  behaviour('an unsupported field is a bad request that lists the supported ones', async (context) => {
    refused(await context.get(`${await context.collection('configmaps')}?fieldSelector=spec.x%3Db`), {
      code: 400,
      reason: 'BadRequest',
      message: '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    });
    refused(await context.get(`${await context.collection('pods')}?fieldSelector=spec.x%3Db`), {
      code: 400,
      reason: 'BadRequest',
      message: 'field label not supported: spec.x',
    });
  }),

  behaviour('a field selector without an operator is a bad request', async (context) => {
    refused(await context.get(`${await context.collection('configmaps')}?fieldSelector=spec.x`), {
      code: 400,
      reason: 'BadRequest',
      message: "invalid selector: 'spec.x'; can't understand 'spec.x'",
    });
  }),

  behaviour('pods are selected by node, phase and restart policy', async (context) => {
    const pods = await readyForPods(context);
    const node = context.unique('ghost');
    await context.create(pods, pod('a', { nodeName: node, tolerations: [{ operator: 'Exists' }] }));
    await context.create(pods, pod('b', { restartPolicy: 'Never' }));
    assert.equal(await select(context, pods, 'field', `spec.nodeName=${node}`), 'a');
    assert.equal(await select(context, pods, 'field', 'spec.nodeName='), 'b');
    assert.equal(await select(context, pods, 'field', 'status.phase=Pending'), 'a b');
    assert.equal(await select(context, pods, 'field', 'status.phase!=Pending'), '');
    assert.equal(await select(context, pods, 'field', 'spec.restartPolicy=Never'), 'b');
    assert.equal(await select(context, pods, 'field', 'spec.schedulerName=nobody'), 'a b');
    assert.equal(await select(context, pods, 'field', 'spec.serviceAccountName=default,metadata.name=b'), 'b');
  }),

  behaviour('secrets are selected by type', async (context) => {
    const secrets = await context.collection('secrets');
    await context.create(secrets, secret('a'));
    await context.create(secrets, { ...secret('b'), type: 'example.com/x' });
    assert.equal(await select(context, secrets, 'field', 'type=example.com/x'), 'b');
  }),

  behaviour('nodes are selected by spec.unschedulable', async (context) => {
    const name = context.unique('node');
    context.deleteAfterBehaviour(`/api/v1/nodes/${name}`);
    await context.create('/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      spec: { unschedulable: true },
    });
    assert.equal(
      await select(context, '/api/v1/nodes', 'field', `metadata.name=${name},spec.unschedulable=true`),
      name,
    );
    assert.equal(await select(context, '/api/v1/nodes', 'field', `metadata.name=${name},spec.unschedulable=false`), '');
  }),

  behaviour('a custom resource is selected by the selectableFields of its definition', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    await context.create(path, widget(apiVersion, 'a', { mode: 'fast' }));
    await context.create(path, widget(apiVersion, 'b'));
    assert.equal(await select(context, path, 'field', 'spec.mode=fast'), 'a');
    assert.equal(await select(context, path, 'field', 'spec.mode=slow'), 'b');
    refused(await context.get(`${path}?fieldSelector=spec.size%3D3`), {
      code: 400,
      reason: 'BadRequest',
      message: 'field label not supported: spec.size',
    });
  }),
]);
