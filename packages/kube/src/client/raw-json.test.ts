import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { manualClock } from '../clock/manual-clock.ts';
import { type JsonRecord, listIn, recordIn } from '../json.ts';
import { pods } from '../objects/builtin.ts';
import type { WatchEvent } from './client.ts';
import { createClient } from './create-client.ts';
import { createTextFilter, filterPage, identityInEvent } from './raw-json.ts';
import { scriptedTransport } from './testing/scripted-transport.ts';

const finalizer = 'example.com/hold-it';
const isWanted = (object: unknown): boolean => listIn(recordIn(object, 'metadata'), 'finalizers').includes(finalizer);
type Pod = NonNullable<typeof pods.ofType>;

/** Text that tempts a scanner: braces, quotes, escapes, keys of lists, and the wanted text where it does not count. */
const temptation = fc.constantFrom(
  finalizer,
  '"items":[',
  '},{',
  ']}',
  '\\',
  '\\"',
  '{"metadata":{"name":"x"',
  '","finalizers":["',
  '\n',
  '<&>',
  '\u2028',
  'ü\u{1f600}',
  'example.com\\/hold-it',
);
const text = fc
  .array(fc.oneof(temptation, fc.string({ unit: 'grapheme' })), { maxLength: 4 })
  .map((all) => all.join(''));
const value = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.array(text, { maxLength: 2 }));

const pod = fc
  .record({
    name: fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,8}[a-z0-9])?$/),
    generateName: fc.option(fc.constant('web-'), { nil: undefined }),
    namespace: fc.stringMatching(/^[a-z0-9]{1,6}$/),
    uid: fc.uuid(),
    resourceVersion: fc.bigInt({ min: 1n, max: 2n ** 63n }).map(String),
    annotations: fc.dictionary(text, text, { maxKeys: 3 }),
    finalizers: fc.option(fc.subarray([finalizer, 'example.com/other', `${finalizer}-too`]), { nil: undefined }),
    spec: fc.dictionary(text, value, { maxKeys: 3 }),
  })
  .map(({ name, generateName, namespace, uid, resourceVersion, annotations, finalizers, spec }) => ({
    metadata: {
      name,
      generateName,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations,
      finalizers,
    },
    spec: JSON.parse(JSON.stringify(spec)) as unknown,
  }));

/** Ways to write JSON. The first is Go's. */
const goEscapes = (json: string): string =>
  json.replace(/[<>&\u2028\u2029]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
const unicodeEscapes = (json: string): string => json.replaceAll('/hold-it', '\\u002fhold-\\u0069t');
const encodings: ((value: unknown) => string)[] = [
  (value) => goEscapes(JSON.stringify(value)),
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value).replaceAll('/', '\\/'),
  (value) => unicodeEscapes(JSON.stringify(value)),
  (value) => JSON.stringify(value, undefined, 1),
  (value) => JSON.stringify(reversed(value)),
];
/** Sorted the other way, as a server writes custom resources with their metadata last. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, each]) => [key, reversed(each)]),
  );
};
const encoding = fc.constantFrom(...encodings);

describe('reading only what contains a text', () => {
  test('a list has the wanted objects of one that is parsed whole', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(pod, { maxLength: 5 }), encoding, fc.boolean(), async (items, encode, newline) => {
        const page = { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '7', continue: '' }, items };
        const body = encode(page) + (newline ? '\n' : '');
        const client = createClient(
          scriptedTransport(() => ({ body })),
          { clock: manualClock() },
        );
        const whole = await client.list(pods);
        const part = await client.list(pods, { mustContain: finalizer });
        assert.deepEqual(part.items.filter(isWanted), whole.items.filter(isWanted));
        assert.equal(part.resourceVersion, whole.resourceVersion);
        for (const item of part.items)
          assert.ok(whole.items.some(({ metadata: { uid } }) => uid === item.metadata.uid));
      }),
      { numRuns: 1000 },
    );
  });

  test('a watch has the wanted objects, and the identity of each other', async () => {
    const type = fc.constantFrom('ADDED', 'MODIFIED', 'DELETED');
    const line = fc.tuple(
      type,
      pod,
      encoding.filter((encode) => !encode({ a: 1 }).includes('\n')),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 5 }), async (events) => {
        const body = events
          .map(([kind, { metadata, spec }, encode]) => {
            const object = { kind: 'Pod', apiVersion: 'v1', metadata, spec };
            return `${encode({ type: kind, object })}\n`;
          })
          .join('');
        const client = createClient(
          scriptedTransport(() => ({ body })),
          { clock: manualClock() },
        );
        const { signal } = new AbortController();
        const read = (mustContain?: string): Promise<WatchEvent<Pod>[]> =>
          Array.fromAsync(client.watch(pods, { resourceVersion: '1', signal, mustContain }));
        const [whole, part] = [await read(), await read(finalizer)];
        assert.equal(part.length, whole.length);
        for (const [index, event] of whole.entries()) {
          const other = part[index];
          if (other?.type === 'BOOKMARK' || event.type === 'BOOKMARK') assert.fail('there are no bookmarks');
          if (isWanted(event.object)) assert.deepEqual(other, event);
          else {
            const identity = ({ object: { metadata } }: typeof event) =>
              [metadata.namespace, metadata.name, metadata.uid, metadata.resourceVersion].join(' ');
            assert.ok(other && identity(other) === identity(event));
          }
        }
      }),
      { numRuns: 1000 },
    );
  });

  const wanted = { metadata: { name: 'b', finalizers: [finalizer] } };
  const page = (items: unknown[], rest: JsonRecord = {}): string =>
    JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '7' }, items, ...rest });
  const pages: [what: string, text: string, expected: string | undefined][] = [
    ['no items', page([]), page([])],
    ['only foreign items', page([{ metadata: { name: 'a' } }]), page([])],
    ['one wanted item', page([{ metadata: { name: 'a' } }, wanted, { metadata: { name: 'c' } }]), page([wanted])],
    ['braces and quotes in strings', page([{ metadata: { name: 'a"}\\' } }, wanted]), page([wanted])],
    ['more after the items', page([], { more: { a: [1] } }), undefined],
    ['items that are no objects, and the text', page([1, wanted]), undefined],
    ['spaces between items, and the text', page([{}, wanted]).replace('},{', '}, {'), undefined],
    ['a text that was cut off', page([wanted]).slice(0, -1), undefined],
    ['a Status', JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, code: 500 }), undefined],
    ['no JSON', 'bad gateway', undefined],
    ['nothing', '', undefined],
  ];
  for (const [what, given, expected] of pages)
    test(`a page with ${what} is ${expected === undefined ? 'parsed whole' : 'read in part'}`, () =>
      assert.equal(filterPage(Buffer.from(given), createTextFilter(finalizer)), expected));

  test('a text that JSON may write otherwise is refused', () => {
    for (const text of ['', 'a b', 'a"b', 'a<b', 'ü']) assert.throws(() => createTextFilter(text), RangeError);
  });

  test('an event of another kind, a bookmark or an error is parsed', () => {
    const event = (type: string, kind: string, apiVersion = 'v1'): Buffer =>
      Buffer.from(
        `{"type":"${type}","object":{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":{"name":"a","uid":"u","resourceVersion":"1"}}}`,
      );
    assert.deepEqual(identityInEvent(event('ADDED', 'Pod'), pods), { name: 'a', uid: 'u', resourceVersion: '1' });
    for (const other of [
      event('BOOKMARK', 'Pod'),
      event('ERROR', 'Status'),
      event('ADDED', 'Node'),
      event('ADDED', 'Pod', 'v2'),
    ])
      assert.equal(identityInEvent(other, pods), undefined);
  });
});
