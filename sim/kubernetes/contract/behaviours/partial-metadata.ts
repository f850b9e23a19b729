import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { objectIn } from '../cluster.ts';
import { includes } from '../expect.ts';
import { secret } from '../objects.ts';
import { read, readList } from '../read.ts';

const as = (kind: string): { headers: Record<string, string> } => ({
  headers: { accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` },
});

export const partialMetadata = topic('partial metadata', [
  behaviour('an object as PartialObjectMetadata is only its metadata', async (context) => {
    const secrets = await context.collection('secrets');
    const created = await context.create(secrets, { ...secret('a'), stringData: { key: 'value' } });
    const answer = await context.get(`${secrets}/a`, as('PartialObjectMetadata'));
    assert.equal(answer.code, 200);
    includes(answer.json, {
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'a', uid: created.metadata.uid, resourceVersion: created.metadata.resourceVersion },
    });
    assert.deepEqual(Object.keys(objectIn(answer)).sort(), ['apiVersion', 'kind', 'metadata']);
  }),

  behaviour('a list as PartialObjectMetadataList has the metadata of each object', async (context) => {
    const secrets = await context.collection('secrets');
    await context.create(secrets, secret('a'));
    await context.create(secrets, secret('b'));
    const answer = await context.get(secrets, as('PartialObjectMetadataList'));
    includes(answer.json, { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' });
    assert.deepEqual(
      readList(answer.json, 'items').map((item) => [
        read(item, 'kind'),
        read(item, 'metadata.name'),
        read(item, 'type'),
      ]),
      [
        ['PartialObjectMetadata', 'a', undefined],
        ['PartialObjectMetadata', 'b', undefined],
      ],
    );
  }),

  behaviour('a watch as PartialObjectMetadata sends metadata only', async (context) => {
    const secrets = await context.collection('secrets');
    await context.create(secrets, secret('a'));
    const answer = await context.get(`${secrets}?watch=true&timeoutSeconds=1`, as('PartialObjectMetadata'));
    const event: unknown = JSON.parse(answer.text.split('\n')[0] ?? '');
    includes(event, { type: 'ADDED', object: { kind: 'PartialObjectMetadata', metadata: { name: 'a' } } });
    assert.equal(read(event, 'object.type'), undefined);
  }),
]);
