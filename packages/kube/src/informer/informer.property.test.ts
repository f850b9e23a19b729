import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { KubeError, type KubeErrorReason } from '../errors/kube-error.ts';
import { isNewerResourceVersion, type Live } from '../objects/object.ts';
import { createInformer } from './create-informer.ts';
import type { Informer, InformerEvent } from './informer.ts';
import { countedClock } from './testing/counted-clock.ts';
import { eventLine, formatEvents } from './testing/event-log.ts';
import { createFaultyClient, type FaultyClient } from './testing/faulty-client.ts';
import { createModelServer, type ModelServer, type Thing, things } from './testing/model-server.ts';
import { recordedLog } from './testing/recorded-log.ts';

type Change = InformerEvent<Thing>;

const nameIn = (change: Change): string => (change.type === 'removed' ? change.previous : change.object).metadata.name;

/** Records events, and checks at each event that the cache is in the state that the events describe. */
const recordEvents = (cache: Informer<Thing>): { changes: Change[]; unsubscribe: () => void } => {
  const changes: Change[] = [];
  const mismatches: string[] = [];
  const unsubscribe = cache.subscribe((change) => {
    changes.push(change);
    const key = `default/${nameIn(change)}`;
    const expected = change.type === 'removed' ? undefined : change.object;
    if (cache.get(key) !== expected) mismatches.push(key);
    if (expected && !cache.byIndex('color', expected.spec.color).includes(expected)) mismatches.push(`${key} by color`);
    if (change.type !== 'added' && cache.byIndex('step', `${change.previous.spec.step}`).length > 0)
      mismatches.push(`${key} still by its old step`);
  });
  return {
    changes,
    unsubscribe: () => {
      unsubscribe();
      assert.deepEqual(mismatches, []);
    },
  };
};

/** Replays events from an empty state, and returns the state at the end. */
const replayEvents = (changes: readonly Change[], server: ModelServer): Map<string, Live<Thing>> => {
  const real = new Set(server.history.map(({ object }) => JSON.stringify(object)));
  const state = new Map<string, Live<Thing>>();
  const latest = new Map<string, string>();
  for (const change of changes) {
    const name = nameIn(change);
    assert.equal(state.get(name), change.type === 'added' ? undefined : change.previous, `${name}: unexpected past`);
    if (change.type === 'removed') {
      state.delete(name);
      continue;
    }
    const { object } = change;
    const { resourceVersion, uid } = object.metadata;
    assert.ok(real.has(JSON.stringify(object)), `${name} never was in that state`);
    assert.ok(
      isNewerResourceVersion(resourceVersion, latest.get(name) ?? '0'),
      `${name}: ${resourceVersion} is no news`,
    );
    if (change.type === 'changed') assert.equal(uid, change.previous.metadata.uid, `${name} changed its identity`);
    latest.set(name, resourceVersion);
    state.set(name, object);
  }
  return state;
};

const words = { ADDED: 'added', MODIFIED: 'changed', DELETED: 'removed' } as const;

/** The events of one list and a watch without gaps: everything after the list. */
const expectedEvents = (server: ModelServer, listed: string): string[] =>
  server.history
    .filter(({ version }) => version > BigInt(listed))
    .map(({ type, object }) => eventLine(words[type], object));

/** One event for the objects, the network or the clock. The cache may or may not run between two of them. */
type Step =
  | { do: 'write' | 'remove' | 'replace'; name: string }
  | { do: 'deliver' | 'repeat' | 'replay'; count: number }
  | { do: 'break' | 'failList' | 'failWatch'; reason: KubeErrorReason }
  | { do: 'pass'; milliseconds: number }
  | { do: 'end' | 'bookmark' | 'elsewhere' | 'forget' | 'holdLists' | 'releaseLists' | 'turn' | 'listen' };

const name = fc.constantFrom('a', 'b', 'c');
const count = fc.integer({ min: 1, max: 4 });
const reason = fc.constantFrom<KubeErrorReason[]>(
  'unreachable',
  'expired',
  'serverError',
  'tooManyRequests',
  'forbidden',
  'unauthorized',
  'notFound',
  'malformed',
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('write', 'remove', 'replace'), name }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('deliver', 'repeat', 'replay'), count }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('break', 'failList', 'failWatch'), reason }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('pass'), milliseconds: fc.constantFrom(500, 1000, 31_000, 300_000) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'end',
        'bookmark',
        'elsewhere',
        'forget',
        'holdLists',
        'releaseLists',
        'turn',
        'turn',
        'listen',
      ),
    }),
  },
);

const errorFor = (reason: KubeErrorReason): KubeError =>
  new KubeError(reason, `for the test: ${reason}`, reason === 'tooManyRequests' ? { retryAfterMs: 40_000 } : {});

interface Environment {
  server: ModelServer;
  network: FaultyClient;
  clock: ReturnType<typeof countedClock>;
  listen(): void;
}

const perform = async (step: Step, { server, network, clock, listen }: Environment): Promise<void> => {
  switch (step.do) {
    case 'write':
      return server.write(step.name);
    case 'remove':
      return server.remove(step.name);
    case 'replace':
      server.remove(step.name);
      return server.write(step.name);
    case 'deliver':
      return network.deliver(step.count);
    case 'repeat':
      return network.repeat(step.count);
    case 'replay':
      return network.replayOnNextWatch(step.count);
    case 'break':
      return network.break(errorFor(step.reason));
    case 'failList':
      return network.failNextList(errorFor(step.reason));
    case 'failWatch':
      return network.failNextWatch(errorFor(step.reason));
    case 'pass':
      clock.advance(step.milliseconds);
      return setImmediate();
    case 'end':
      return network.end();
    case 'bookmark':
      return network.bookmark();
    case 'elsewhere':
      return server.writeElsewhere();
    case 'forget':
      return server.compact();
    case 'holdLists':
      return network.holdLists();
    case 'releaseLists':
      return network.releaseLists();
    case 'turn':
      return setImmediate();
    case 'listen':
      return listen();
  }
};

/** A fixed sequence of numbers in [0, 1) per seed. */
const randomFrom = (seed: number): (() => number) => {
  let state = seed;
  return () => (state = (state * 16_807 + 11) % 2_147_483_647) / 2_147_483_647;
};

const byName = (objects: Iterable<{ metadata: { name: string } }>): object[] =>
  [...objects].sort((a, b) => a.metadata.name.localeCompare(b.metadata.name));

test('under any network faults, no change is lost, repeated or invented, and the store converges to the server', async () => {
  const seen = { runs: 0, gaplessReconnects: 0, relists: 0, silences: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 50, size: 'max' }),
      fc.nat(),
      fc.boolean(),
      async (steps, seed, all) => {
        const filter = ({ spec }: Thing): boolean => all || spec.color !== 'red';
        const clock = countedClock();
        const server = createModelServer();
        const network = createFaultyClient(server);
        const { log, lines } = recordedLog();
        const cache = createInformer({
          client: network.client,
          resource: things,
          clock,
          random: randomFrom(seed),
          log,
          // Objects change their color, so they start and stop matching the filter.
          filter,
          indexes: { color: ({ spec }) => [spec.color], step: ({ spec }) => [`${spec.step}`] },
        });
        cache.subscribe(() => {
          throw new Error('a listener of the test throws');
        });
        const recordings = [recordEvents(cache)];
        const environment: Environment = {
          server,
          network,
          clock,
          listen: () => void recordings.push(recordEvents(cache)),
        };
        const stop = new AbortController();
        const run = cache.run(stop.signal);

        for (const step of steps) await perform(step, environment);

        network.heal();
        const wanted = byName(server.objects().filter(filter));
        for (let turn = 0; turn < 30 && !network.caughtUp; turn++) {
          await setImmediate();
          clock.advance(41_000);
        }
        await setImmediate();

        assert.deepEqual(byName(cache.list()), wanted);
        for (const object of cache.list()) assert.deepEqual(cache.byIndex('step', `${object.spec.step}`), [object]);
        for (const recording of recordings) {
          assert.deepEqual(byName(replayEvents(recording.changes, server).values()), wanted);
          recording.unsubscribe();
        }
        seen.runs++;
        if (network.lists.length > 1) seen.relists++;
        else if (network.watches.length > 2) seen.gaplessReconnects++;
        if (lines.some(({ message }) => message.startsWith('Watch inactive'))) seen.silences++;
        const [first] = network.lists;
        if (all && network.lists.length === 1 && first !== undefined) {
          const seen = formatEvents(recordings[0]?.changes ?? []);
          const gapless = expectedEvents(server, first);
          assert.deepEqual(seen.slice(seen.length - gapless.length), gapless);
        }

        stop.abort();
        await run;
        assert.deepEqual({ timers: clock.timers, readers: network.readers }, { timers: 0, readers: 0 });
      },
    ),
    { numRuns: 1500 },
  );
  // The faults happen: some runs relist, others do not.
  for (const [what, times] of Object.entries(seen)) assert.ok(times > 50, `${what}: ${times}`);
});
