import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { controllerManager } from '../authentication/user.ts';
import { createKubernetes } from '../kubernetes.ts';
import { copy, type KubeObject } from '../object.ts';
import { crdFinalizer } from './crd-finalizer.ts';

const draft = (apiVersion: string, kind: string, metadata: object, fields: object = {}): KubeObject =>
  ({ apiVersion, kind, metadata, ...fields }) as unknown as KubeObject;

const definition = draft(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  { name: 'things.ex.io' },
  {
    spec: {
      group: 'ex.io',
      scope: 'Cluster',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  },
);

const settle = (clock: ManualClock): void => clock.advance(5_000);

it('deletes the custom resources, and removes the finalizer of the definition after the last one', async () => {
  const clock = manualClock();
  const { api, stop } = await createKubernetes({ clock, controllers: false });
  const stopCleanup = crdFinalizer((error) => assert.fail(String(error))).start(api);
  const definitions = api.find('apiextensions.k8s.io', 'customresourcedefinitions');
  assert.ok(definitions);
  api.create(definitions, '', definition, controllerManager);
  const things = api.find('ex.io', 'things');
  assert.ok(things);
  api.create(things, '', draft('ex.io/v1', 'Thing', { name: 'free' }), controllerManager);
  const held = api.create(
    things,
    '',
    draft('ex.io/v1', 'Thing', { name: 'held', finalizers: ['ex.io/wait'] }),
    controllerManager,
  );

  const marked = api.delete(definitions, '', 'things.ex.io', controllerManager);
  assert.deepEqual(marked?.metadata.finalizers, ['customresourcecleanup.apiextensions.k8s.io']);
  settle(clock);
  const [left, ...others] = api.list(api.find('ex.io', 'things') ?? things, '');
  assert.equal(left?.metadata.name, 'held');
  assert.deepEqual(others, []);
  assert.ok(api.get(definitions, '', 'things.ex.io'));

  const released = copy(left ?? held);
  released.metadata.finalizers = [];
  api.update(things, '', released, controllerManager);
  settle(clock);
  assert.equal(api.get(definitions, '', 'things.ex.io'), undefined);
  assert.equal(api.find('ex.io', 'things'), undefined);
  stopCleanup();
  stop();
});
