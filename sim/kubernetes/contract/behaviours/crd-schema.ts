import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { establish } from '../crds.ts';
import { includes, refused } from '../expect.ts';
import { read } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

export const crdSchema = topic('custom resources', [
  behaviour('unknown fields are pruned', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const path = await collection();
    const created = await trial.create(path, { ...widget(apiVersion, 'a', { unknown: 1 }), top: 'level' });
    assert.equal(created.top, undefined);
    assert.deepEqual(created.spec, { size: 3, mode: 'slow', replicas: 1 });
  }),

  behaviour('unknown fields stay where the schema preserves them', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const anything = { deep: { er: [1, { x: null }] } };
    const created = await trial.create(await collection(), widget(apiVersion, 'a', { anything }));
    assert.deepEqual(read(created, 'spec.anything'), anything);
  }),

  behaviour('defaults are filled in on create and on update', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const path = await collection();
    const created = await trial.create(path, widget(apiVersion, 'a', { mode: 'fast' }));
    assert.equal(read(created, 'spec.mode'), 'fast');
    const edited = await trial.edit(`${path}/a`, { spec: { mode: null } });
    assert.equal(read(edited, 'spec.mode'), 'slow');
  }),

  behaviour('a default that came later shows up in what was stored before', async (trial) => {
    const schema = (properties: Record<string, unknown>): Record<string, unknown> => ({
      schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
    });
    const { group, path } = await establish(trial, { kind: 'Late', plural: 'lates', version: schema({}) });
    const lates = await trial.collection('lates', `${group}/v1`);
    await trial.create(lates, { apiVersion: `${group}/v1`, kind: 'Late', metadata: { name: 'a' }, spec: {} });
    await trial.edit(path, {
      spec: {
        versions: [
          { name: 'v1', served: true, storage: true, ...schema({ colour: { type: 'string', default: 'grey' } }) },
        ],
      },
    });
    await trial.eventually('the default', async () => {
      const answer = await trial.get(`${lates}/a`);
      return read(answer.json, 'spec.colour') === 'grey' ? answer : undefined;
    });
  }),

  behaviour('null for a field that is not nullable is pruned or defaulted, a nullable one keeps it', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const created = await trial.create(await collection(), widget(apiVersion, 'a', { mode: null, maybe: null }));
    includes(created, { spec: { mode: 'slow', maybe: null } });
  }),

  behaviour('int-or-string takes both', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const path = await collection();
    includes(await trial.create(path, widget(apiVersion, 'a', { amount: 5 })), { spec: { amount: 5 } });
    includes(await trial.create(path, widget(apiVersion, 'b', { amount: '50%' })), { spec: { amount: '50%' } });
  }),

  behaviour('numbers keep their kind: 1.0 is an integer, 1.5 is not', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const path = await collection();
    const body = JSON.stringify(widget(apiVersion, 'a')).replace('"size":3', '"size":3.0');
    assert.equal((await trial.post(path, body)).code, 201);
    refused(await trial.post(path, widget(apiVersion, 'b', { size: 1.5 })), { code: 422, reason: 'Invalid' });
  }),

  behaviour('metadata of the wrong type is a bad request', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const path = await collection();
    const wrong = {
      'Go struct field ObjectMeta.labels of type string': { name: 'a', labels: { x: 5 } },
      'Go struct field ObjectMeta.finalizers of type string': { name: 'a', finalizers: [5] },
      'Go struct field ObjectMeta.name of type string': { name: 5 },
    };
    for (const [what, metadata] of Object.entries(wrong)) {
      refused(await trial.post(path, { ...widget(apiVersion, 'a'), metadata }), {
        code: 400,
        reason: 'BadRequest',
        message: `Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number into ${what}`,
      });
    }
  }),

  behaviour('unknown fields of metadata are dropped, or refused by Strict', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const path = await collection();
    const body = { ...widget(apiVersion, 'a'), metadata: { name: 'a', nom: 'a' } };
    assert.equal(read(await trial.create(path, body), 'metadata.nom'), undefined);
    refused(await trial.post(`${path}?fieldValidation=Strict`, body), {
      code: 400,
      reason: 'BadRequest',
      message:
        'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "metadata.nom"',
    });
  }),
]);
