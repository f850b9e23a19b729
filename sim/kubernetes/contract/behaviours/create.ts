import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { includes, refused } from '../expect.ts';
import { configMap } from '../objects.ts';
import { read, readList } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const create = topic('create', [
  behaviour('a created object gets a UID, a timestamp in whole seconds and a resource version', async (context) => {
    const configMaps = await context.collection('configmaps');
    const answer = await context.post(configMaps, configMap('a', { data: { key: 'value' } }));
    assert.equal(answer.code, 201);
    assert.equal(answer.headers['content-type'], 'application/json');
    includes(answer.json, {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'a', namespace: await context.namespace() },
      data: { key: 'value' },
    });
    assert.match(String(read(answer.json, 'metadata.uid')), uuid);
    assert.match(String(read(answer.json, 'metadata.creationTimestamp')), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.match(String(read(answer.json, 'metadata.resourceVersion')), /^[1-9]\d*$/);
    assert.equal(read(answer.json, 'metadata.generation'), undefined);
    assert.deepEqual((await context.get(`${configMaps}/a`)).json, answer.json);
  }),

  behaviour('fields that only the server may set are dropped from the body', async (context) => {
    const configMaps = await context.collection('configmaps');
    const created = await context.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'a',
        uid: '00000000-0000-4000-8000-000000000000',
        creationTimestamp: '2001-01-01T00:00:00Z',
        deletionTimestamp: '2001-01-01T00:00:00Z',
        deletionGracePeriodSeconds: 5,
        generation: 7,
        selfLink: '/nowhere',
      },
    });
    assert.notEqual(created.metadata.uid, '00000000-0000-4000-8000-000000000000');
    assert.notEqual(created.metadata.creationTimestamp, '2001-01-01T00:00:00Z');
    assert.equal(created.metadata.deletionTimestamp, undefined);
    assert.equal(created.metadata.deletionGracePeriodSeconds, undefined);
    assert.equal(created.metadata.selfLink, undefined);
  }),

  behaviour('a body with a resource version is rejected with 500', async (context) => {
    const configMaps = await context.collection('configmaps');
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', resourceVersion: '12' } };
    refused(await context.post(configMaps, body), {
      code: 500,
      message: 'resourceVersion should not be set on objects to be created',
    });
  }),

  behaviour('apiVersion and kind are optional for a built-in kind', async (context) => {
    const created = await context.create(await context.collection('configmaps'), { metadata: { name: 'a' } });
    includes(created, { apiVersion: 'v1', kind: 'ConfigMap' });
  }),

  behaviour('a kind other than that of the path is a bad request', async (context) => {
    const answer = await context.post(await context.collection('configmaps'), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a' },
    });
    refused(answer, {
      code: 400,
      reason: 'BadRequest',
      message: /^Secret in version "v1" cannot be handled as a ConfigMap: /,
    });
  }),

  behaviour('a namespace other than that of the path is a bad request', async (context) => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } };
    refused(await context.post(await context.collection('configmaps'), body), {
      code: 400,
      reason: 'BadRequest',
      message: 'the namespace of the provided object does not match the namespace sent on the request',
    });
  }),

  behaviour('an existing name is AlreadyExists, not a Conflict', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, configMap('a'));
    refused(await context.post(configMaps, configMap('a')), {
      code: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "a" already exists',
      details: { name: 'a', kind: 'configmaps' },
    });
  }),

  behaviour('AlreadyExists outside the core group names the group', async (context) => {
    const { collection, group, apiVersion } = await widgets(context);
    const path = await collection();
    await context.create(path, widget(apiVersion, 'a'));
    refused(await context.post(path, widget(apiVersion, 'a')), {
      code: 409,
      reason: 'AlreadyExists',
      message: `widgets.${group} "a" already exists`,
      details: { name: 'a', group, kind: 'widgets' },
    });
  }),

  behaviour('a custom resource starts with generation 1 and without the status of the body', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const created = await context.create(await collection(), {
      ...widget(apiVersion, 'a'),
      status: { phase: 'Ready' },
    });
    assert.equal(created.metadata.generation, 1);
    assert.equal(created.status, undefined);
  }),
]);

const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with " +
  "an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const metadata = (fields: Record<string, unknown>): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: fields,
});

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };

export const names = topic('names and metadata', [
  behaviour('a name is required', async (context) => {
    refused(await context.post(await context.collection('configmaps'), metadata({})), {
      code: 422,
      reason: 'Invalid',
      message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
      details: {
        kind: 'ConfigMap',
        causes: [
          {
            reason: 'FieldValueRequired',
            message: 'Required value: name or generateName is required',
            field: 'metadata.name',
          },
        ],
      },
    });
  }),

  behaviour('a name is a lower-case subdomain', async (context) => {
    refused(await context.post(await context.collection('configmaps'), configMap('A_b')), {
      code: 422,
      reason: 'Invalid',
      message: `ConfigMap "A_b" is invalid: metadata.name: Invalid value: "A_b": ${subdomain}`,
      causes: [{ reason: 'FieldValueInvalid', message: `Invalid value: "A_b": ${subdomain}`, field: 'metadata.name' }],
    });
  }),

  behaviour('the name of a namespace is a label, without dots', async (context) => {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a.b' } };
    refused(await context.post('/api/v1/namespaces', body), {
      code: 422,
      reason: 'Invalid',
      message: 'Namespace "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots',
    });
  }),

  behaviour('a name of more than 253 characters is rejected', async (context) => {
    const name = 'a'.repeat(254);
    refused(await context.post(await context.collection('configmaps'), configMap(name)), {
      code: 422,
      reason: 'Invalid',
      message: `ConfigMap "${name}" is invalid: metadata.name: Invalid value: "${name}": must be no more than 253 characters`,
    });
  }),

  behaviour('generateName appends five characters without vowels', async (context) => {
    const configMaps = await context.collection('configmaps');
    const first = await context.create(configMaps, metadata({ generateName: 'mac-' }));
    const second = await context.create(configMaps, metadata({ generateName: 'mac-' }));
    assert.match(first.metadata.name, /^mac-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    assert.equal(first.metadata.generateName, 'mac-');
    assert.notEqual(first.metadata.name, second.metadata.name);
  }),

  behaviour('generateName is truncated so that the name has 63 characters', async (context) => {
    const created = await context.create(
      await context.collection('configmaps'),
      metadata({ generateName: 'm'.repeat(100) }),
    );
    assert.match(created.metadata.name, /^m{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  }),

  behaviour('name wins over generateName', async (context) => {
    const created = await context.create(
      await context.collection('configmaps'),
      metadata({ name: 'a', generateName: 'b-' }),
    );
    assert.equal(created.metadata.name, 'a');
  }),

  behaviour('each invalid label is a cause of its own', async (context) => {
    const answer = await context.post(
      await context.collection('configmaps'),
      metadata({ name: 'a', labels: { '-x': 'ok', y: '-' } }),
    );
    const key =
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
      "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    const value =
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with " +
      "an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
      "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    refused(answer, { code: 422, reason: 'Invalid' });
    // Labels are a map, so the server checks them in no fixed order.
    const causes = readList(answer.json, 'details.causes').sort((a, b) =>
      String(read(a, 'message')) < String(read(b, 'message')) ? 1 : -1,
    );
    assert.deepEqual(causes, [
      { reason: 'FieldValueInvalid', message: `Invalid value: "-x": ${key}`, field: 'metadata.labels' },
      { reason: 'FieldValueInvalid', message: `Invalid value: "-": ${value}`, field: 'metadata.labels' },
    ]);
  }),

  behaviour('annotations together may not exceed 256 KiB', async (context) => {
    const answer = await context.post(
      await context.collection('configmaps'),
      metadata({ name: 'a', annotations: { big: 'x'.repeat(256 * 1024) } }),
    );
    refused(answer, {
      code: 422,
      reason: 'Invalid',
      causes: [
        {
          reason: 'FieldValueTooLong',
          message: 'Too long: may not be more than 262144 bytes',
          field: 'metadata.annotations',
        },
      ],
    });
  }),

  behaviour('an owner reference needs apiVersion, kind, name and UID', async (context) => {
    const answer = await context.post(
      await context.collection('configmaps'),
      metadata({ name: 'a', ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] }),
    );
    const at = 'metadata.ownerReferences';
    refused(answer, {
      code: 422,
      reason: 'Invalid',
      causes: [
        {
          reason: 'FieldValueInvalid',
          message: 'Invalid value: "": version must not be empty',
          field: `${at}.apiVersion`,
        },
        { reason: 'FieldValueInvalid', message: 'Invalid value: "": must not be empty', field: `${at}.kind` },
        { reason: 'FieldValueInvalid', message: 'Invalid value: "": must not be empty', field: `${at}.name` },
        { reason: 'FieldValueInvalid', message: 'Invalid value: "": must not be empty', field: `${at}.uid` },
      ],
    });
  }),

  behaviour('at most one owner is the controller', async (context) => {
    const answer = await context.post(
      await context.collection('configmaps'),
      metadata({
        name: 'a',
        ownerReferences: [
          { ...owner, name: 'o1', uid: 'u1', controller: true },
          { ...owner, name: 'o2', uid: 'u2', controller: true },
        ],
      }),
    );
    refused(answer, {
      code: 422,
      reason: 'Invalid',
      message:
        /metadata\.ownerReferences: Invalid value: .*Only one reference can have Controller set to true\. Found "true" in references for ConfigMap\/o1 and ConfigMap\/o2/,
    });
  }),

  behaviour('an Event cannot be an owner', async (context) => {
    const answer = await context.post(
      await context.collection('configmaps'),
      metadata({ name: 'a', ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'e', uid: 'u' }] }),
    );
    refused(answer, { code: 422, reason: 'Invalid', message: /is disallowed from being an owner/ });
  }),

  behaviour('a finalizer is a qualified name', async (context) => {
    const answer = await context.post(
      await context.collection('configmaps'),
      metadata({ name: 'a', finalizers: ['plain'] }),
    );
    refused(answer, {
      code: 422,
      reason: 'Invalid',
      message:
        'ConfigMap "a" is invalid: metadata.finalizers[0]: Invalid value: "plain": name is neither a standard finalizer name nor is it fully qualified',
    });
  }),
]);
