import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { refused } from '../expect.ts';
import { pod, secret } from '../objects.ts';
import { readyForPods } from '../pods.ts';
import { read, readList } from '../read.ts';
import type { Trial } from '../trial.ts';
import { widget, widgets } from '../widgets.ts';

const select = async (trial: Trial, path: string, kind: 'label' | 'field', selector: string): Promise<string> => {
  const found = await trial.fetch(`${path}?${kind}Selector=${encodeURIComponent(selector)}`);
  return readList(found, 'items')
    .map((item) => read(item, 'metadata.name'))
    .join(' ');
};

export const selectors = topic('selectors', [
  behaviour('label selectors: =, ==, !=, in, notin, exists, absent, and all of them joined', async (trial) => {
    const secrets = await trial.collection('secrets');
    await trial.create(secrets, secret('a', { tier: 'one', zone: 'x' }));
    await trial.create(secrets, secret('b', { tier: 'two' }));
    await trial.create(secrets, secret('c'));
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
      assert.equal(await select(trial, secrets, 'label', selector), names, selector);
    }
  }),

  behaviour('gt and lt compare integers', async (trial) => {
    const secrets = await trial.collection('secrets');
    await trial.create(secrets, secret('a', { cpu: '2' }));
    await trial.create(secrets, secret('b', { cpu: '10' }));
    assert.equal(await select(trial, secrets, 'label', 'cpu>2'), 'b');
    assert.equal(await select(trial, secrets, 'label', 'cpu<10'), 'a');
  }),

  behaviour('bad label selectors are bad requests that say where', async (trial) => {
    const secrets = await trial.collection('secrets');
    const expected = {
      'a===b': "unable to parse requirement: found '=', expected: identifier",
      'a in (b': "unable to parse requirement: found '', expected: ',' or ')'",
      '!!a': "unable to parse requirement: found '!', expected: identifier",
    };
    for (const [selector, message] of Object.entries(expected)) {
      const answer = await trial.get(`${secrets}?labelSelector=${encodeURIComponent(selector)}`);
      refused(answer, { code: 400, reason: 'BadRequest', message });
    }
  }),

  behaviour('metadata.name and metadata.namespace select any kind', async (trial) => {
    const secrets = await trial.collection('secrets');
    await trial.create(secrets, secret('a'));
    await trial.create(secrets, secret('b'));
    assert.equal(await select(trial, secrets, 'field', 'metadata.name=a'), 'a');
    assert.equal(await select(trial, secrets, 'field', 'metadata.name!=a'), 'b');
    assert.equal(await select(trial, secrets, 'field', `metadata.namespace=${await trial.namespace()}`), 'a b');
    assert.equal(await select(trial, secrets, 'field', 'metadata.namespace=elsewhere'), '');
  }),

  behaviour('a field that is not selectable is a bad request that names those that are', async (trial) => {
    refused(await trial.get(`${await trial.collection('configmaps')}?fieldSelector=spec.x%3Db`), {
      code: 400,
      reason: 'BadRequest',
      message: '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    });
    refused(await trial.get(`${await trial.collection('pods')}?fieldSelector=spec.x%3Db`), {
      code: 400,
      reason: 'BadRequest',
      message: 'field label not supported: spec.x',
    });
  }),

  behaviour('a field selector without an operator is a bad request', async (trial) => {
    refused(await trial.get(`${await trial.collection('configmaps')}?fieldSelector=spec.x`), {
      code: 400,
      reason: 'BadRequest',
      message: "invalid selector: 'spec.x'; can't understand 'spec.x'",
    });
  }),

  behaviour('pods are selected by node, phase and restart policy', async (trial) => {
    const pods = await readyForPods(trial);
    const node = trial.unique('ghost');
    await trial.create(pods, pod('a', { nodeName: node, tolerations: [{ operator: 'Exists' }] }));
    await trial.create(pods, pod('b', { restartPolicy: 'Never' }));
    assert.equal(await select(trial, pods, 'field', `spec.nodeName=${node}`), 'a');
    assert.equal(await select(trial, pods, 'field', 'spec.nodeName='), 'b');
    assert.equal(await select(trial, pods, 'field', 'status.phase=Pending'), 'a b');
    assert.equal(await select(trial, pods, 'field', 'status.phase!=Pending'), '');
    assert.equal(await select(trial, pods, 'field', 'spec.restartPolicy=Never'), 'b');
    assert.equal(await select(trial, pods, 'field', 'spec.schedulerName=nobody'), 'a b');
    assert.equal(await select(trial, pods, 'field', 'spec.serviceAccountName=default,metadata.name=b'), 'b');
  }),

  behaviour('secrets are selected by type', async (trial) => {
    const secrets = await trial.collection('secrets');
    await trial.create(secrets, secret('a'));
    await trial.create(secrets, { ...secret('b'), type: 'example.com/x' });
    assert.equal(await select(trial, secrets, 'field', 'type=example.com/x'), 'b');
  }),

  behaviour('nodes are selected by spec.unschedulable', async (trial) => {
    const name = trial.unique('node');
    trial.leave(`/api/v1/nodes/${name}`);
    await trial.create('/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      spec: { unschedulable: true },
    });
    assert.equal(await select(trial, '/api/v1/nodes', 'field', `metadata.name=${name},spec.unschedulable=true`), name);
    assert.equal(await select(trial, '/api/v1/nodes', 'field', `metadata.name=${name},spec.unschedulable=false`), '');
  }),

  behaviour('a custom resource is selected by what its definition calls selectable', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const path = await collection();
    await trial.create(path, widget(apiVersion, 'a', { mode: 'fast' }));
    await trial.create(path, widget(apiVersion, 'b'));
    assert.equal(await select(trial, path, 'field', 'spec.mode=fast'), 'a');
    assert.equal(await select(trial, path, 'field', 'spec.mode=slow'), 'b');
    refused(await trial.get(`${path}?fieldSelector=spec.size%3D3`), {
      code: 400,
      reason: 'BadRequest',
      message: 'field label not supported: spec.size',
    });
  }),
]);
