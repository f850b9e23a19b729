import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Host } from '../controller-deps.ts';
import { machineIndexes, listerOf } from '../indexes.ts';
import { createHostOffers } from './host-offers.ts';
import { heldBy, hostWith } from './testing/hosts.ts';

/** Macs and reservations as the caches have them, and the machines that were woken. */
const setUp = () => {
  const hosts = new Map<string, Host>();
  const reserved = new Set<string>();
  const woken: string[] = [];
  const offers = createHostOffers({
    macHosts: { get: (name) => hosts.get(name) },
    machines: {
      ...listerOf([], machineIndexes),
      // Only their number matters.
      byIndex: (_index, serverID) => (reserved.has(serverID) ? [{} as never] : []),
    },
  });
  offers.subscribe((key) => woken.push(key));
  return {
    offers,
    reserved,
    change: (id: string, host = hostWith(id)): void => {
      hosts.set(id, host);
      offers.hostChanged(id);
    },
    remove: (id: string): void => {
      hosts.delete(id);
      offers.hostChanged(id);
    },
    wait: (key: string, { since = 0, group = 'any', fits = (_host: Host): boolean => true } = {}) =>
      offers.wait(key, { since, group, fits }),
    wokenNow: (): string[] => woken.splice(0),
  };
};
const waits = { waits: true, serverID: undefined };
const moot = { waits: false, serverID: undefined };

describe('a free Mac', () => {
  test('wakes one machine, the one that has waited longest, however often the Mac changes', () => {
    const { change, wait, wokenNow, offers } = setUp();
    for (const key of ['a', 'b', 'c']) wait(key);
    change('h1');
    assert.deepEqual(wokenNow(), ['a']);
    change('h2');
    assert.deepEqual(wokenNow(), ['b']);
    offers.choose('a', 'h1');
    change('h1');
    assert.deepEqual(wokenNow(), ['a'], 'also while its pass reserves it');
  });

  test('wakes the machine that has waited longest, whichever has looked first', () => {
    const { change, wait, wokenNow } = setUp();
    wait('a', { since: 2 });
    wait('b', { since: 1 });
    wait('c', { since: 1 });
    for (const id of ['h1', 'h2', 'h3']) change(id);
    assert.deepEqual(wokenNow(), ['b', 'c', 'a']);
  });

  test('wakes the same machine again if it has changed before the machine chose it', () => {
    const { change, wait, wokenNow } = setUp();
    for (const key of ['a', 'b']) wait(key);
    change('h');
    change('h');
    assert.deepEqual(wokenNow(), ['a', 'a']);
  });

  test('wakes only a machine that it fits, and asks once for machines that want the same', () => {
    const { change, wait, wokenNow } = setUp();
    let asked = 0;
    const never = (): boolean => (asked++, false);
    for (const key of ['a', 'b', 'c']) wait(key, { group: 'other', fits: never });
    wait('d');
    change('h');
    assert.deepEqual([wokenNow(), asked], [['d'], 1]);
  });

  const notFree: readonly (readonly [string, (setup: ReturnType<typeof setUp>) => void])[] = [
    ['held', ({ change }) => change('h', hostWith('h', { spec: { consumerRef: heldBy('m', 'u') } }))],
    ['gone', ({ remove }) => remove('h')],
    ['reserved', ({ reserved, offers }) => (reserved.add('h'), offers.hostChanged('h'))],
  ];
  for (const [what, become] of notFree)
    test(`wakes nobody, and is offered to nobody, once it is ${what}`, () => {
      const setup = setUp();
      setup.change('h');
      setup.wait('a');
      become(setup);
      assert.deepEqual(setup.wokenNow(), []);
      setup.offers.choose('a', 'h');
      become(setup);
      assert.equal(setup.offers.isOfferedToOther('h', 'b'), false);
    });

  test('wakes the next machine if the first one does not need it or loses it', () => {
    const { change, wait, wokenNow, offers } = setUp();
    for (const key of ['a', 'b', 'c', 'd']) wait(key);
    change('h');
    assert.deepEqual(wokenNow(), ['a']);
    offers.passEnded('a', moot);
    assert.deepEqual(wokenNow(), ['b']);
    offers.choose('b', 'h');
    offers.passEnded('b', moot);
    assert.deepEqual(wokenNow(), ['c']);
    offers.passEnded('c', moot);
    assert.deepEqual(wokenNow(), ['d']);
    offers.choose('d', 'h');
    offers.passEnded('d', { waits: false, serverID: 'h' });
    wait('e');
    assert.deepEqual([wokenNow(), offers.isOfferedToOther('h', 'e')], [[], true]);
  });

  test('wakes the next machine if the first one has chosen another Mac', () => {
    const { change, wait, wokenNow, offers } = setUp();
    for (const key of ['a', 'b']) wait(key);
    change('h1');
    offers.choose('a', 'h2');
    offers.passEnded('a', { waits: false, serverID: 'h2' });
    assert.deepEqual(wokenNow(), ['a', 'b']);
  });

  test('does not wake a machine twice that has declined it, until it changes', () => {
    const { change, wait, wokenNow, offers } = setUp();
    wait('a');
    change('h');
    wait('a');
    offers.passEnded('a', waits);
    assert.deepEqual(wokenNow(), ['a']);
    change('h');
    assert.deepEqual(wokenNow(), ['a']);
  });

  test('wakes a machine that lost it to a failure, and then waited while it was offered to another that has gone', () => {
    const { change, wait, wokenNow, offers } = setUp();
    for (const key of ['a', 'b']) wait(key);
    change('h');
    offers.choose('a', 'h');
    offers.passEnded('a', moot);
    wait('a');
    offers.passEnded('a', waits);
    assert.deepEqual(wokenNow(), ['a', 'b']);
    offers.passEnded('b', moot);
    assert.deepEqual(wokenNow(), ['a']);
    wait('a');
    offers.passEnded('a', waits);
    assert.deepEqual(wokenNow(), []);
  });

  test('does not wake a machine that has just found another one', () => {
    const { change, wait, wokenNow, offers } = setUp();
    for (const key of ['a', 'b']) wait(key);
    offers.choose('a', 'h1');
    change('h2');
    assert.deepEqual(wokenNow(), ['b']);
  });

  test('wakes nobody who no longer waits', () => {
    const { change, wait, wokenNow, offers } = setUp();
    wait('a');
    offers.passEnded('a', moot);
    change('h');
    assert.deepEqual(wokenNow(), []);
  });

  test('is not kept for a machine that an earlier run of the controller woke', () => {
    const { change, wait, offers } = setUp();
    wait('a');
    change('h');
    assert.equal(offers.isOfferedToOther('h', 'b'), true);
    offers.subscribe(() => {});
    assert.equal(offers.isOfferedToOther('h', 'b'), false);
  });
});

/**
 * A model of a controller with one queue: passes run in the order in which machines were woken. A pass may fail before it chooses, which
 * the queue retries, and other managers may take a Mac at any time.
 */
describe('machines that wait for Macs, for any order of events', () => {
  type Event =
    | { readonly kind: 'machine'; readonly needs: number }
    | { readonly kind: 'free' | 'taken'; readonly host: number }
    | { readonly kind: 'gone'; readonly machine: number }
    | { readonly kind: 'passes'; readonly count: number; readonly failing: boolean };
  const index = fc.nat({ max: 5 });
  const event: fc.Arbitrary<Event> = fc.oneof(
    fc.record({ kind: fc.constant('machine' as const), needs: fc.nat({ max: 1 }) }),
    fc.record({ kind: fc.constantFrom('free' as const, 'free' as const, 'taken' as const), host: index }),
    fc.record({ kind: fc.constant('gone' as const), machine: index }),
    fc.record({ kind: fc.constant('passes' as const), count: index, failing: fc.boolean() }),
  );

  test('no Mac stays free while a machine waits that it fits, and a free Mac costs few passes', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const hosts = new Map<string, Host>();
        const reservations = new Map<string, string>();
        const machines = new Map<string, number>();
        const queue = new Set<string>();
        let passes = 0;
        let causes = 0;
        const offers = createHostOffers({
          macHosts: { get: (name) => hosts.get(name) },
          machines: {
            ...listerOf([], machineIndexes),
            byIndex: (_index, id) => ([...reservations.values()].includes(id) ? [{} as never] : []),
          },
        });
        offers.subscribe((key) => queue.add(key));
        const kindOf = (id: string): number => Number(id.slice(1)) % 2;
        const isFree = (id: string): boolean =>
          hosts.get(id)?.spec.consumerRef === undefined && hosts.has(id) && ![...reservations.values()].includes(id);
        const pass = (key: string, fails: boolean): void => {
          passes += 1;
          const needs = machines.get(key);
          if (needs === undefined || reservations.has(key)) return offers.passEnded(key, moot);
          const fitting = [...hosts.keys()].filter((id) => kindOf(id) === needs && isFree(id));
          const choice = fitting.find((id) => !offers.isOfferedToOther(id, key));
          if (choice === undefined) {
            offers.wait(key, { since: 0, group: String(needs), fits: (host) => kindOf(host.metadata.name) === needs });
            return offers.passEnded(key, waits);
          }
          offers.choose(key, choice);
          if (fails) {
            causes += 1;
            queue.add(key);
            return offers.passEnded(key, moot);
          }
          offers.passEnded(key, { waits: false, serverID: choice });
          reservations.set(key, choice);
          offers.hostChanged(choice);
        };
        const runPasses = (count: number, failing: boolean): void => {
          for (let left = count; left > 0; left -= 1) {
            const [key] = queue;
            if (key === undefined) return;
            queue.delete(key);
            pass(key, failing && left === count);
          }
        };
        for (const each of events) {
          causes += 1;
          switch (each.kind) {
            case 'machine': {
              const key = `m${machines.size}`;
              machines.set(key, each.needs);
              queue.add(key);
              break;
            }
            case 'free':
            case 'taken': {
              const id = `h${each.host}`;
              const holder = each.kind === 'taken' ? { spec: { consumerRef: heldBy('x', 'x') } } : {};
              for (const [key, reserved] of reservations) {
                if (reserved !== id) continue;
                reservations.delete(key);
                machines.delete(key);
              }
              hosts.set(id, hostWith(id, holder));
              offers.hostChanged(id);
              break;
            }
            case 'gone': {
              const key = `m${each.machine}`;
              const reserved = reservations.get(key);
              reservations.delete(key);
              machines.delete(key);
              if (reserved !== undefined) offers.hostChanged(reserved);
              // The removal triggers a pass.
              queue.add(key);
              break;
            }
            case 'passes':
              runPasses(each.count, each.failing);
          }
        }
        runPasses(Infinity, false);
        for (const [key, needs] of machines) {
          if (reservations.has(key)) continue;
          const free = [...hosts.keys()].filter((id) => kindOf(id) === needs && isFree(id));
          assert.deepEqual(free, [], `${key} waits for ever`);
        }
        assert.ok(passes <= 2 * causes, `${passes} passes for ${causes} causes`);
      }),
      { numRuns: 3000 },
    );
  });
});
