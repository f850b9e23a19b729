import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MacHost, MacHostStatus } from '@tartan/api';
import type { Live } from '@tartan/kube';
import { matchesFamily } from '@tartan/scaleway';
import fc from 'fast-check';
import { chooseHost } from './choose-host.ts';
import { aHost, aRelease, heldBy, wanted } from './testing/a-host.ts';
import type { Wanted } from './wanted.ts';

const now = Date.parse('2026-06-01T00:00:00Z');
const later = '2026-06-01T00:00:01Z';
const earlier = '2026-05-31T23:59:59Z';
const quarantine = (until: string, count = 1) => ({ quarantine: { count, reason: 'it failed', until } });
const choose = (hosts: Live<MacHost>[], reserved: string[] = [], by: Wanted = wanted) =>
  chooseHost(by, { hosts, reservedByOthers: new Set(reserved), now });
const answer = (...[hosts, reserved, by]: Parameters<typeof choose>): string => {
  const choice = choose(hosts, reserved, by);
  return choice.kind === 'none'
    ? 'none'
    : `${choice.kind === 'wait' ? 'wait for' : choice.because} ${choice.host.metadata.name}`;
};
const mine = { spec: { consumerRef: heldBy(wanted.name, wanted.uid) } };
const theirs = { spec: { consumerRef: heldBy('other', 'uid-other') } };
/** Under its name, and recorded as its own if it is called z. */
const recorded = (status: MacHostStatus = {}) => ({ status: { state: 'held', name: wanted.name, ...status } }) as const;

const table: [title: string, hosts: Live<MacHost>[], expected: string, reserved?: string[]][] = [
  ['there is none', [], 'none'],
  ['one is free', [aHost('h')], 'free h'],
  ['its own comes first, whatever it is', [aHost('a'), aHost('z', { ...mine, status: { type: 'M1-M' } })], 'held z'],
  ['its own comes before what is recorded', [aHost('a', mine), aHost('z', recorded())], 'held a'],
  ['what is recorded comes before the pool', [aHost('a'), aHost('z', recorded())], 'recorded z'],
  ['one that merely bears its name', [aHost('h', recorded())], 'none'],
  ['one that merely bears its name, and one that is free', [aHost('a', recorded()), aHost('h')], 'free h'],
  ['what is recorded under another name', [aHost('z', recorded({ name: 'other' }))], 'none'],
  ['one that another machine holds', [aHost('h', theirs)], 'none'],
  [
    'one that is held by another UID of the same name',
    [aHost('h', { spec: { consumerRef: heldBy(wanted.name, 'old') } })],
    'none',
  ],
  ['one on its way back', [aHost('h', { spec: { release: aRelease } })], 'none'],
  ['one that says it is on its way back', [aHost('h', { status: { state: 'releasing' } })], 'none'],
  ['one in quarantine', [aHost('h', { status: { state: 'quarantined' } })], 'none'],
  ['one whose quarantine is ahead', [aHost('h', { status: quarantine(later) })], 'none'],
  ['one whose quarantine has no end', [aHost('h', { status: quarantine('some day') })], 'none'],
  ['one whose quarantine is over', [aHost('h', { status: quarantine(earlier) })], 'free h'],
  ['one that is stranded', [aHost('h', { status: { state: 'stranded' } })], 'none'],
  ['one that is abandoned', [aHost('h', { metadata: { annotations: { 'tuist.dev/abandon': '' } } })], 'none'],
  ['one that says it is abandoned', [aHost('h', { status: { state: 'abandoned' } })], 'none'],
  [
    'what is recorded and abandoned',
    [aHost('h', { ...recorded(), metadata: { annotations: { 'tuist.dev/abandon': 'x' } } })],
    'none',
  ],
  ['one that is being deleted', [aHost('h', { metadata: { deletionTimestamp: earlier } })], 'none'],
  ['one that nobody has looked at', [{ ...aHost('h'), status: {} }], 'none'],
  ['one of another type', [aHost('h', { status: { type: 'M1-M' } })], 'none'],
  ['one of another zone', [aHost('h', { spec: { zone: 'fr-par-3' } })], 'none'],
  ['one with another macOS', [aHost('h', { status: { osFamily: 'Sequoia', osImage: 'macos-sequoia-15.3' } })], 'none'],
  [
    'one with a family of a similar name',
    [aHost('h', { status: { osFamily: 'x', osImage: 'devos-tahoe-26.0' } })],
    'none',
  ],
  ['one of another pool', [aHost('h', { status: { name: 'other-pool-1' } })], 'none'],
  ['one that reboots', [aHost('h', { status: { serverStatus: 'rebooting' } })], 'none'],
  ['one that another machine has reserved', [aHost('h')], 'none', ['h']],
  ['what is recorded, and reserved by another machine', [aHost('z', recorded())], 'none', ['z']],
  ['what is recorded, of another type', [aHost('z', recorded({ type: 'M1-M' }))], 'none'],
  [
    'what is recorded and reboots is waited for',
    [aHost('a'), aHost('z', recorded({ serverStatus: 'rebooting' }))],
    'wait for z',
  ],
  [
    'what is recorded, on its way back',
    [aHost('a'), aHost('z', { ...recorded(), spec: { release: aRelease } })],
    'free a',
  ],
  ['those that never failed come first', [aHost('a', { status: quarantine(earlier) }), aHost('b')], 'free b'],
  [
    'those that failed less come first',
    [aHost('a', { status: quarantine(earlier, 2) }), aHost('b', { status: quarantine(earlier, 1) })],
    'free b',
  ],
  [
    'then those that have waited longest',
    [aHost('a', { status: { since: later } }), aHost('b', { status: { since: earlier } })],
    'free b',
  ],
  [
    'then those of known age',
    [aHost('a', { status: { since: '?' } }), aHost('b', { status: { since: earlier } })],
    'free b',
  ],
  ['then the first by name, in whatever order they come', [aHost('b'), aHost('a'), aHost('c')], 'free a'],
];

describe('which Mac a machine should have', () => {
  for (const [title, hosts, expected, reserved] of table) {
    test(title, () => {
      assert.equal(answer(hosts, reserved), expected);
      assert.equal(answer(hosts.toReversed(), reserved), expected);
    });
  }

  test('no pool prefix is no pool, not every pool', () => {
    assert.equal(answer([aHost('h')], [], { ...wanted, poolPrefix: '' }), 'none');
  });

  test('a pin with a version means its family', () => {
    assert.equal(answer([aHost('h')], [], { ...wanted, os: 'macos-tahoe-26.1' }), 'free h');
  });
});

describe('when there is none', () => {
  test('it says what was looked for and what there is instead', () => {
    const hosts = [
      aHost('a', theirs),
      aHost('b', theirs),
      aHost('c', { status: { type: 'M1-M' } }),
      aHost('d', { status: { osFamily: 'Sequoia', osImage: 'macos-sequoia-15.3' } }),
      aHost('e', { status: { serverStatus: 'rebooting' } }),
      aHost('f', { status: quarantine(later) }),
      aHost('g'),
      aHost('h', { spec: { zone: 'fr-par-3' } }),
      aHost('i', { status: { state: 'stranded', name: 'x' } }),
      aHost('j', { status: { name: 'other-1' } }),
    ];
    const choice = choose(hosts, ['g']);
    assert.equal(choice.kind, 'none');
    const { message } = choice as { message: string };
    assert.equal(
      message,
      'No M2-L with Tahoe is free in fr-par-1 whose name begins with tuist-pool-. Instead there are: 2 M2-L with Tahoe held, 1 M1-M with Tahoe free, 1 M2-L with Sequoia free, 1 M2-L with Tahoe free in fr-par-3, 1 M2-L with Tahoe in another pool, 1 M2-L with Tahoe in the pool but rebooting, 1 M2-L with Tahoe quarantined, 1 M2-L with Tahoe reserved by another machine, 1 M2-L with Tahoe stranded. Order one, free one, or change what is asked for; it is tried again by itself.',
    );
    assert.equal((choose(hosts.toReversed(), ['g']) as { message: string }).message, message);
  });

  test('it says so when there is no Mac at all', () => {
    assert.match((choose([]) as { message: string }).message, /There is no Mac at all, or none has been listed yet/);
  });

  test('it stays readable however many kinds there are', () => {
    const hosts = Array.from({ length: 100 }, (_, at) => aHost(`h${at}`, { status: { type: `T${at}` } }));
    assert.match((choose(hosts) as { message: string }).message, /, 88 of other kinds\. Order one/);
  });
});

describe('whatever the pool looks like', () => {
  const mostly = <T>(usual: T, ...others: T[]) =>
    fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
  const fields = fc.record({
    consumer: mostly(undefined, heldBy(wanted.name, wanted.uid), heldBy('o', 'uid-o'), heldBy('o', 'uid-o')),
    release: mostly(undefined, aRelease),
    zone: mostly('fr-par-1', 'fr-par-3'),
    state: mostly('pool', 'held', 'releasing', 'quarantined', 'stranded', undefined),
    name: mostly('tuist-pool-1', 'tuist-pool-2', wanted.name, 'other-pool-1', 'tuist-releasing-x', undefined),
    type: mostly('M2-L', 'M1-M', undefined),
    osFamily: mostly('Tahoe', 'Sequoia', undefined),
    osImage: mostly('macos-tahoe-26.3', 'macos-sequoia-15.3', undefined),
    serverStatus: mostly('ready', 'rebooting', undefined),
    until: mostly(undefined, earlier, later, ''),
    since: mostly(earlier, undefined, later, 'x'),
    deleting: mostly(false, true),
    reserved: mostly(false, true),
  });

  const built = (of: (typeof fields extends fc.Arbitrary<infer T> ? T : never)[]) =>
    of.map((field, at) => {
      const { consumer, release, zone, deleting, until, reserved: _, ...status } = field;
      const host = aHost(at === 3 ? 'z' : `h${at}`, {
        // CEL refuses both at once.
        spec: { zone, ...(consumer ? { consumerRef: consumer } : release && { release }) },
        metadata: deleting ? { deletionTimestamp: earlier } : {},
      });
      const known = Object.entries(status).filter(([, value]) => value !== undefined);
      return { ...host, status: { ...Object.fromEntries(known), ...(until !== undefined && quarantine(until)) } };
    });

  test('the answer is one of three, and never a Mac that is not for this machine', () => {
    let chosen = 0;
    fc.assert(
      fc.property(fc.array(fields, { maxLength: 8 }), (all) => {
        const hosts = built(all);
        const reserved = hosts.filter((_, at) => all[at]?.reserved).map(({ metadata }) => metadata.name);
        const choice = choose(hosts, reserved);
        if (choice.kind === 'none') return assert.ok(choice.message.startsWith('No M2-L with Tahoe is free'));
        const { spec, status = {}, metadata } = choice.host;
        if (choice.kind === 'chosen' && choice.because === 'held')
          return assert.equal(spec.consumerRef?.uid, wanted.uid);
        chosen += 1;
        assert.equal(spec.consumerRef, undefined);
        assert.equal(spec.release, undefined);
        assert.ok(!['releasing', 'quarantined'].includes(status.state ?? ''));
        assert.ok(status.quarantine === undefined || status.quarantine.until === earlier);
        assert.equal(spec.zone, wanted.zone);
        assert.equal(status.type, wanted.type);
        assert.ok(matchesFamily({ name: status.osImage ?? '', family: status.osFamily ?? '' }, wanted.os));
        assert.ok(!reserved.includes(metadata.name));
        assert.equal(metadata.deletionTimestamp, undefined);
        if (choice.kind === 'wait') {
          assert.notEqual(status.serverStatus, 'ready');
          return assert.deepEqual([metadata.name, status.name], [wanted.recordedServer, wanted.name]);
        }
        assert.equal(status.serverStatus, 'ready');
        if (choice.because === 'recorded')
          return assert.deepEqual([metadata.name, status.name], [wanted.recordedServer, wanted.name]);
        assert.equal(status.state, 'pool');
        assert.ok(status.name?.startsWith('tuist-pool-'));
      }),
      { numRuns: 2000 },
    );
    assert.ok(chosen > 500, `only ${chosen} times was there anything to choose`);
  });
});
