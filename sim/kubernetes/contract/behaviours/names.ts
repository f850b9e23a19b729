import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { refused } from '../expect.ts';
import { configMap } from '../objects.ts';
import { read, readList } from '../read.ts';

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
  behaviour('a name is required', async (trial) => {
    refused(await trial.post(await trial.collection('configmaps'), metadata({})), {
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

  behaviour('a name is a lower-case subdomain', async (trial) => {
    refused(await trial.post(await trial.collection('configmaps'), configMap('A_b')), {
      code: 422,
      reason: 'Invalid',
      message: `ConfigMap "A_b" is invalid: metadata.name: Invalid value: "A_b": ${subdomain}`,
      causes: [{ reason: 'FieldValueInvalid', message: `Invalid value: "A_b": ${subdomain}`, field: 'metadata.name' }],
    });
  }),

  behaviour('the name of a namespace is a label, without dots', async (trial) => {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a.b' } };
    refused(await trial.post('/api/v1/namespaces', body), {
      code: 422,
      reason: 'Invalid',
      message: 'Namespace "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots',
    });
  }),

  behaviour('a name of more than 253 characters is refused', async (trial) => {
    const name = 'a'.repeat(254);
    refused(await trial.post(await trial.collection('configmaps'), configMap(name)), {
      code: 422,
      reason: 'Invalid',
      message: `ConfigMap "${name}" is invalid: metadata.name: Invalid value: "${name}": must be no more than 253 characters`,
    });
  }),

  behaviour('generateName gets five characters that spell no words', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const first = await trial.create(configMaps, metadata({ generateName: 'mac-' }));
    const second = await trial.create(configMaps, metadata({ generateName: 'mac-' }));
    assert.match(first.metadata.name, /^mac-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    assert.equal(first.metadata.generateName, 'mac-');
    assert.notEqual(first.metadata.name, second.metadata.name);
  }),

  behaviour('generateName is cut so that the name has 63 characters', async (trial) => {
    const created = await trial.create(
      await trial.collection('configmaps'),
      metadata({ generateName: 'm'.repeat(100) }),
    );
    assert.match(created.metadata.name, /^m{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  }),

  behaviour('name wins over generateName', async (trial) => {
    const created = await trial.create(
      await trial.collection('configmaps'),
      metadata({ name: 'a', generateName: 'b-' }),
    );
    assert.equal(created.metadata.name, 'a');
  }),

  behaviour('each bad label is a cause of its own', async (trial) => {
    const answer = await trial.post(
      await trial.collection('configmaps'),
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
    // Labels are a map, and are looked at in no order.
    const causes = readList(answer.json, 'details.causes').sort((a, b) =>
      String(read(a, 'message')) < String(read(b, 'message')) ? 1 : -1,
    );
    assert.deepEqual(causes, [
      { reason: 'FieldValueInvalid', message: `Invalid value: "-x": ${key}`, field: 'metadata.labels' },
      { reason: 'FieldValueInvalid', message: `Invalid value: "-": ${value}`, field: 'metadata.labels' },
    ]);
  }),

  behaviour('annotations together may not exceed 256 KiB', async (trial) => {
    const answer = await trial.post(
      await trial.collection('configmaps'),
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

  behaviour('an owner reference needs apiVersion, kind, name and uid', async (trial) => {
    const answer = await trial.post(
      await trial.collection('configmaps'),
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

  behaviour('at most one owner is the controller', async (trial) => {
    const answer = await trial.post(
      await trial.collection('configmaps'),
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

  behaviour('an Event can own nothing', async (trial) => {
    const answer = await trial.post(
      await trial.collection('configmaps'),
      metadata({ name: 'a', ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'e', uid: 'u' }] }),
    );
    refused(answer, { code: 422, reason: 'Invalid', message: /is disallowed from being an owner/ });
  }),

  behaviour('a finalizer is a qualified name', async (trial) => {
    const answer = await trial.post(
      await trial.collection('configmaps'),
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
