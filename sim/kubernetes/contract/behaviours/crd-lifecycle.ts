import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { objectIn } from '../cluster.ts';
import { definition, definitions, establish, isTrue } from '../crds.ts';
import { includes, refused } from '../expect.ts';
import { read, readList } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

const anything = { schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } };

const withName = (list: unknown, path: string, name: string): unknown =>
  readList(list, path).find((entry) => read(entry, 'name') === name);

export const crdLifecycle = topic('custom resource definitions', [
  behaviour('a definition gets its default names, is accepted and established', async (trial) => {
    const { name, body } = definition({ kind: 'Gadget', plural: 'gadgets', version: anything });
    const created = await trial.create(definitions, body);
    trial.deleteAfterBehaviour(`${definitions}/${name}`);
    includes(created, {
      metadata: { name, generation: 1 },
      spec: {
        names: { kind: 'Gadget', listKind: 'GadgetList', plural: 'gadgets', singular: 'gadget' },
        conversion: { strategy: 'None' },
      },
    });
    const established = await trial.waitFor(`${definitions}/${name}`, (crd) => isTrue(crd, 'Established'));
    includes(established, {
      status: {
        acceptedNames: { kind: 'Gadget', listKind: 'GadgetList', plural: 'gadgets', singular: 'gadget' },
        storedVersions: ['v1'],
      },
    });
    assert.deepEqual(
      readList(established, 'status.conditions').map((each) =>
        ['type', 'status', 'reason', 'message'].map((key) => read(each, key)),
      ),
      [
        ['NamesAccepted', 'True', 'NoConflicts', 'no conflicts found'],
        ['Established', 'True', 'InitialNamesAccepted', 'the initial names have been accepted'],
      ],
    );
  }),

  behaviour('its group is in discovery with all its names and subresources', async (trial) => {
    const { group } = await widgets(trial);
    const list = await trial.eventually(`${group} in discovery`, async () => {
      const answer = await trial.get(`/apis/${group}/v1`);
      return answer.code === 200 ? answer.json : undefined;
    });
    includes(list, { kind: 'APIResourceList', groupVersion: `${group}/v1` });
    includes(withName(list, 'resources', 'widgets'), {
      singularName: 'widget',
      namespaced: true,
      kind: 'Widget',
      verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
      shortNames: ['wi'],
      categories: ['contraptions'],
    });
    includes(withName(list, 'resources', 'widgets/status'), {
      singularName: '',
      kind: 'Widget',
      verbs: ['get', 'patch', 'update'],
    });
    includes(withName(list, 'resources', 'widgets/scale'), { group: 'autoscaling', version: 'v1', kind: 'Scale' });
    await trial.eventually(`${group} among the groups`, async () =>
      withName(await trial.fetch('/apis'), 'groups', group),
    );
  }),

  behaviour('its kind is in OpenAPI', async (trial) => {
    const { group } = await widgets(trial);
    const document = await trial.eventually('OpenAPI', async () => {
      const answer = await trial.get(`/openapi/v3/apis/${group}/v1`);
      return answer.code === 200 ? answer.json : undefined;
    });
    const kinds = Object.values(read(document, 'components.schemas') ?? {}).flatMap((schema) =>
      readList(schema, 'x-kubernetes-group-version-kind').map(
        (kind) => `${String(read(kind, 'group'))} ${String(read(kind, 'kind'))}`,
      ),
    );
    assert.ok(kinds.includes(`${group} Widget`), kinds.join());
  }),

  behaviour('a name other than plural.group is invalid', async (trial) => {
    const { body } = definition({ kind: 'Gadget', plural: 'gadgets', version: anything });
    refused(await trial.post(definitions, { ...body, metadata: { name: 'gadgets.other.example.com' } }), {
      code: 422,
      reason: 'Invalid',
      message:
        'CustomResourceDefinition.apiextensions.k8s.io "gadgets.other.example.com" is invalid: metadata.name: Invalid value: "gadgets.other.example.com": must be spec.names.plural+"."+spec.group',
    });
  }),

  behaviour('a schema that is not structural is invalid', async (trial) => {
    const { body } = definition({
      kind: 'Gadget',
      plural: 'gadgets',
      version: {
        schema: {
          openAPIV3Schema: { type: 'object', properties: { spec: { properties: { a: { type: 'string' } } } } },
        },
      },
    });
    refused(await trial.post(definitions, body), {
      code: 422,
      reason: 'Invalid',
      causes: [
        {
          reason: 'FieldValueRequired',
          message: 'Required value: must not be empty for specified object fields',
          field: 'spec.validation.openAPIV3Schema.properties[spec].type',
        },
      ],
    });
  }),

  behaviour('a schema is required', async (trial) => {
    const { body } = definition({ kind: 'Gadget', plural: 'gadgets', version: {} });
    refused(await trial.post(definitions, body), {
      code: 422,
      reason: 'Invalid',
      message: /spec\.versions\[0\]\.schema\.openAPIV3Schema: Required value$/,
    });
  }),

  behaviour('a deletion deletes the objects, and then the path is a 404', async (trial) => {
    const { group, path } = await establish(trial, { kind: 'Doomed', plural: 'doomeds', version: anything });
    const doomeds = await trial.collection('doomeds', `${group}/v1`);
    await trial.create(doomeds, { apiVersion: `${group}/v1`, kind: 'Doomed', metadata: { name: 'a' } });
    const events = await trial.watch(doomeds);
    includes(await events.next(), { type: 'ADDED' });
    const answer = await trial.delete(path);
    assert.equal(answer.code, 200);
    const marked = objectIn(answer);
    assert.deepEqual(marked.metadata.finalizers, ['customresourcecleanup.apiextensions.k8s.io']);
    assert.ok(marked.metadata.deletionTimestamp);
    includes(await events.next(), { type: 'DELETED', object: { metadata: { name: 'a' } } });
    await trial.waitFor(path, (crd) => crd === undefined);
    await trial.eventually('the path to be gone', async () => {
      const gone = await trial.get(doomeds);
      return gone.code === 404 ? gone : undefined;
    });
  }),

  behaviour('an object with a finalizer delays the deletion of its definition', async (trial) => {
    const { group, path } = await establish(trial, { kind: 'Held', plural: 'helds', version: anything });
    const helds = await trial.collection('helds', `${group}/v1`);
    await trial.create(helds, {
      apiVersion: `${group}/v1`,
      kind: 'Held',
      metadata: { name: 'a', finalizers: ['example.com/hold'] },
    });
    await trial.remove(path);
    await trial.waitFor(`${helds}/a`, (object) => object?.metadata.deletionTimestamp !== undefined);
    assert.ok(isTrue(await trial.fetch(path), 'Terminating'));
    await trial.edit(`${helds}/a`, { metadata: { finalizers: null } });
    await trial.waitFor(path, (crd) => crd === undefined);
  }),

  behaviour('a body needs the apiVersion and kind of the path', async (trial) => {
    const { collection, apiVersion, group } = await widgets(trial);
    const path = await collection();
    refused(await trial.post(path, { metadata: { name: 'a' }, spec: { size: 2 } }), {
      code: 400,
      reason: 'BadRequest',
      message: /^the object provided is unrecognized \(must be of type Widget\): Object 'Kind' is missing in /,
    });
    refused(await trial.post(path, widget(`${group}/v9`, 'a')), {
      code: 400,
      reason: 'BadRequest',
      message: `the API version in the data (${group}/v9) does not match the expected API version (${apiVersion})`,
    });
    refused(await trial.post(path, { ...widget(apiVersion, 'a'), kind: 'Gadget' }), {
      code: 422,
      reason: 'Invalid',
      message: `Gadget.${group} "a" is invalid: kind: Invalid value: "Gadget": must be Widget`,
    });
  }),

  behaviour('a second served version serves the same objects with its own apiVersion', async (trial) => {
    const { group, path } = await establish(trial, { kind: 'Twin', plural: 'twins', version: anything });
    const crd = await trial.fetch(path);
    const versions = readList(crd, 'spec.versions');
    await trial.edit(path, {
      spec: { versions: [...versions, { name: 'v2', served: true, storage: false, ...anything }] },
    });
    const first = await trial.collection('twins', `${group}/v1`);
    const second = await trial.collection('twins', `${group}/v2`);
    await trial.eventually('v2 to be served', async () => ((await trial.get(second)).code === 200 ? true : undefined));
    const created = await trial.create(first, {
      apiVersion: `${group}/v1`,
      kind: 'Twin',
      metadata: { name: 'a' },
      spec: { x: 1 },
    });
    const other = await trial.fetch(`${second}/a`);
    includes(other, { apiVersion: `${group}/v2`, spec: { x: 1 } });
    assert.equal(other.metadata.uid, created.metadata.uid);
    assert.equal(other.metadata.resourceVersion, created.metadata.resourceVersion);
  }),
]);
