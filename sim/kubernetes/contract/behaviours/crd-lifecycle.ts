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
  behaviour('a definition gets its default names, is accepted and established', async (context) => {
    const { name, body } = definition({ kind: 'Gadget', plural: 'gadgets', version: anything });
    const created = await context.create(definitions, body);
    context.deleteAfterBehaviour(`${definitions}/${name}`);
    includes(created, {
      metadata: { name, generation: 1 },
      spec: {
        names: { kind: 'Gadget', listKind: 'GadgetList', plural: 'gadgets', singular: 'gadget' },
        conversion: { strategy: 'None' },
      },
    });
    const established = await context.waitFor(`${definitions}/${name}`, (crd) => isTrue(crd, 'Established'));
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

  behaviour('its group is in discovery with all its names and subresources', async (context) => {
    const { group } = await widgets(context);
    const list = await context.eventually(`${group} in discovery`, async () => {
      const answer = await context.get(`/apis/${group}/v1`);
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
    await context.eventually(`${group} among the groups`, async () =>
      withName(await context.fetch('/apis'), 'groups', group),
    );
  }),

  behaviour('its kind is in OpenAPI', async (context) => {
    const { group } = await widgets(context);
    const document = await context.eventually('OpenAPI', async () => {
      const answer = await context.get(`/openapi/v3/apis/${group}/v1`);
      return answer.code === 200 ? answer.json : undefined;
    });
    const kinds = Object.values(read(document, 'components.schemas') ?? {}).flatMap((schema) =>
      readList(schema, 'x-kubernetes-group-version-kind').map(
        (kind) => `${String(read(kind, 'group'))} ${String(read(kind, 'kind'))}`,
      ),
    );
    assert.ok(kinds.includes(`${group} Widget`), kinds.join());
  }),

  behaviour('a name other than plural.group is invalid', async (context) => {
    const { body } = definition({ kind: 'Gadget', plural: 'gadgets', version: anything });
    refused(await context.post(definitions, { ...body, metadata: { name: 'gadgets.other.example.com' } }), {
      code: 422,
      reason: 'Invalid',
      message:
        'CustomResourceDefinition.apiextensions.k8s.io "gadgets.other.example.com" is invalid: metadata.name: Invalid value: "gadgets.other.example.com": must be spec.names.plural+"."+spec.group',
    });
  }),

  behaviour('a schema that is not structural is invalid', async (context) => {
    const { body } = definition({
      kind: 'Gadget',
      plural: 'gadgets',
      version: {
        schema: {
          openAPIV3Schema: { type: 'object', properties: { spec: { properties: { a: { type: 'string' } } } } },
        },
      },
    });
    refused(await context.post(definitions, body), {
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

  behaviour('a schema is required', async (context) => {
    const { body } = definition({ kind: 'Gadget', plural: 'gadgets', version: {} });
    refused(await context.post(definitions, body), {
      code: 422,
      reason: 'Invalid',
      message: /spec\.versions\[0\]\.schema\.openAPIV3Schema: Required value$/,
    });
  }),

  behaviour('a deletion deletes the objects, and then the path is a 404', async (context) => {
    const { group, path } = await establish(context, { kind: 'Doomed', plural: 'doomeds', version: anything });
    const doomeds = await context.collection('doomeds', `${group}/v1`);
    await context.create(doomeds, { apiVersion: `${group}/v1`, kind: 'Doomed', metadata: { name: 'a' } });
    const events = await context.watch(doomeds);
    includes(await events.next(), { type: 'ADDED' });
    const answer = await context.delete(path);
    assert.equal(answer.code, 200);
    const marked = objectIn(answer);
    assert.deepEqual(marked.metadata.finalizers, ['customresourcecleanup.apiextensions.k8s.io']);
    assert.ok(marked.metadata.deletionTimestamp);
    includes(await events.next(), { type: 'DELETED', object: { metadata: { name: 'a' } } });
    await context.waitFor(path, (crd) => crd === undefined);
    await context.eventually('the path to be gone', async () => {
      const gone = await context.get(doomeds);
      return gone.code === 404 ? gone : undefined;
    });
  }),

  behaviour('an object with a finalizer delays the deletion of its definition', async (context) => {
    const { group, path } = await establish(context, { kind: 'Held', plural: 'helds', version: anything });
    const helds = await context.collection('helds', `${group}/v1`);
    await context.create(helds, {
      apiVersion: `${group}/v1`,
      kind: 'Held',
      metadata: { name: 'a', finalizers: ['example.com/hold'] },
    });
    await context.remove(path);
    await context.waitFor(`${helds}/a`, (object) => object?.metadata.deletionTimestamp !== undefined);
    assert.ok(isTrue(await context.fetch(path), 'Terminating'));
    await context.edit(`${helds}/a`, { metadata: { finalizers: null } });
    await context.waitFor(path, (crd) => crd === undefined);
  }),

  behaviour('a body needs the apiVersion and kind of the path', async (context) => {
    const { collection, apiVersion, group } = await widgets(context);
    const path = await collection();
    refused(await context.post(path, { metadata: { name: 'a' }, spec: { size: 2 } }), {
      code: 400,
      reason: 'BadRequest',
      message: /^the object provided is unrecognized \(must be of type Widget\): Object 'Kind' is missing in /,
    });
    refused(await context.post(path, widget(`${group}/v9`, 'a')), {
      code: 400,
      reason: 'BadRequest',
      message: `the API version in the data (${group}/v9) does not match the expected API version (${apiVersion})`,
    });
    refused(await context.post(path, { ...widget(apiVersion, 'a'), kind: 'Gadget' }), {
      code: 422,
      reason: 'Invalid',
      message: `Gadget.${group} "a" is invalid: kind: Invalid value: "Gadget": must be Widget`,
    });
  }),

  behaviour('a second served version serves the same objects with its own apiVersion', async (context) => {
    const { group, path } = await establish(context, { kind: 'Twin', plural: 'twins', version: anything });
    const crd = await context.fetch(path);
    const versions = readList(crd, 'spec.versions');
    await context.edit(path, {
      spec: { versions: [...versions, { name: 'v2', served: true, storage: false, ...anything }] },
    });
    const first = await context.collection('twins', `${group}/v1`);
    const second = await context.collection('twins', `${group}/v2`);
    await context.eventually('v2 to be served', async () =>
      (await context.get(second)).code === 200 ? true : undefined,
    );
    const created = await context.create(first, {
      apiVersion: `${group}/v1`,
      kind: 'Twin',
      metadata: { name: 'a' },
      spec: { x: 1 },
    });
    const other = await context.fetch(`${second}/a`);
    includes(other, { apiVersion: `${group}/v2`, spec: { x: 1 } });
    assert.equal(other.metadata.uid, created.metadata.uid);
    assert.equal(other.metadata.resourceVersion, created.metadata.resourceVersion);
  }),
]);
