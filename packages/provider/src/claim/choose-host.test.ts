import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MacHost, MacHostStatus } from '@tartan/api';
import type { Live } from '@tartan/kube';
import { matchesFamily } from '@tartan/scaleway';
import fc from 'fast-check';
import { chooseHost, type ClaimBlocker, claimBlockedBy, type HostRequirements } from './choose-host.ts';
import { exampleRelease, heldBy, hostWith, wanted } from './testing/hosts.ts';

const now = Date.parse('2026-06-01T00:00:00Z');
const later = '2026-06-01T00:00:01Z';
const earlier = '2026-05-31T23:59:59Z';
const quarantine = (until: string, count = 1) => ({ quarantine: { count, reason: 'it failed', until } });
const choose = (hosts: Live<MacHost>[], reserved: string[] = [], by: HostRequirements = wanted) =>
  chooseHost(by, {
    candidates: hosts,
    hosts: () => hosts,
    counts: () => new Map(),
    isReservedByOther: (id) => reserved.includes(id),
    now,
  });
const answer = (...[hosts, reserved, by]: Parameters<typeof choose>): string => {
  const choice = choose(hosts, reserved, by);
  switch (choice.kind) {
    case 'none':
      return 'none';
    case 'wait':
      return `wait for ${choice.host.metadata.name}`;
    case 'chosen':
      return `${choice.reason} ${choice.host.metadata.name}`;
  }
};
const mine = { spec: { consumerRef: heldBy(wanted.name, wanted.uid) } };
const theirs = { spec: { consumerRef: heldBy('other', 'uid-other') } };
/** Has the machine's name, and is recorded as its host if its id is z. */
const recorded = (status: MacHostStatus = {}) => ({ status: { state: 'held', name: wanted.name, ...status } }) as const;

const unseen = (name: string): Live<MacHost> => {
  const { status: _, ...host } = hostWith(name);
  return host;
};

const table: [title: string, hosts: Live<MacHost>[], expected: string, reserved?: string[]][] = [
  ['there is none', [], 'none'],
  ['one is free', [hostWith('h')], 'free h'],
  [
    'the held Mac comes first, whatever its type',
    [hostWith('a'), hostWith('z', { ...mine, status: { type: 'M1-M' } })],
    'held z',
  ],
  ['of two that it holds, the first by name', [hostWith('b', mine), hostWith('a', mine)], 'held a'],
  ['its own comes before what is recorded', [hostWith('a', mine), hostWith('z', recorded())], 'held a'],
  ['what is recorded comes before the pool', [hostWith('a'), hostWith('z', recorded())], 'recorded z'],
  ['one that only has its name', [hostWith('h', recorded())], 'none'],
  ['one that only has its name, and one that is free', [hostWith('a', recorded()), hostWith('h')], 'free h'],
  ['what is recorded under another name', [hostWith('z', recorded({ name: 'other' }))], 'none'],
  ['one that another machine holds', [hostWith('h', theirs)], 'none'],
  [
    'one that is held by another UID of the same name',
    [hostWith('h', { spec: { consumerRef: heldBy(wanted.name, 'old') } })],
    'none',
  ],
  ['one with a release', [hostWith('h', { spec: { release: exampleRelease } })], 'none'],
  ['one in state releasing', [hostWith('h', { status: { state: 'releasing' } })], 'none'],
  ['one in quarantine', [hostWith('h', { status: { state: 'quarantined' } })], 'none'],
  ['one whose quarantine has not ended', [hostWith('h', { status: quarantine(later) })], 'none'],
  ['one whose quarantine has no end', [hostWith('h', { status: quarantine('some day') })], 'none'],
  ['one whose quarantine is over', [hostWith('h', { status: quarantine(earlier) })], 'free h'],
  ['one that is stranded', [hostWith('h', { status: { state: 'stranded' } })], 'none'],
  ['one that is abandoned', [hostWith('h', { metadata: { annotations: { 'tuist.dev/abandon': '' } } })], 'none'],
  ['one that says it is abandoned', [hostWith('h', { status: { state: 'abandoned' } })], 'none'],
  [
    'what is recorded and abandoned',
    [hostWith('h', { ...recorded(), metadata: { annotations: { 'tuist.dev/abandon': 'x' } } })],
    'none',
  ],
  ['one that is being deleted', [hostWith('h', { metadata: { deletionTimestamp: earlier } })], 'none'],
  ['one without a status', [{ ...hostWith('h'), status: {} }], 'none'],
  ['one that was never looked at, recorded as its own', [unseen('z')], 'none'],
  ['one of another type', [hostWith('h', { status: { type: 'M1-M' } })], 'none'],
  ['one of another zone', [hostWith('h', { spec: { zone: 'fr-par-3' } })], 'none'],
  [
    'one with another macOS',
    [hostWith('h', { status: { osFamily: 'Sequoia', osImage: 'macos-sequoia-15.3' } })],
    'none',
  ],
  [
    'one with a family of a similar name',
    [hostWith('h', { status: { osFamily: 'x', osImage: 'devos-tahoe-26.0' } })],
    'none',
  ],
  ['one of another pool', [hostWith('h', { status: { name: 'other-pool-1' } })], 'none'],
  ['one that reboots', [hostWith('h', { status: { serverStatus: 'rebooting' } })], 'none'],
  ['one that another machine has reserved', [hostWith('h')], 'none', ['h']],
  ['what is recorded, and reserved by another machine', [hostWith('z', recorded())], 'none', ['z']],
  ['what is recorded, of another type', [hostWith('z', recorded({ type: 'M1-M' }))], 'none'],
  [
    'what is recorded and reboots is waited for',
    [hostWith('a'), hostWith('z', recorded({ serverStatus: 'rebooting' }))],
    'wait for z',
  ],
  [
    'what is recorded, being released',
    [hostWith('a'), hostWith('z', { ...recorded(), spec: { release: exampleRelease } })],
    'free a',
  ],
  ['those that never failed come first', [hostWith('a', { status: quarantine(earlier) }), hostWith('b')], 'free b'],
  [
    'those that failed less come first',
    [hostWith('a', { status: quarantine(earlier, 2) }), hostWith('b', { status: quarantine(earlier, 1) })],
    'free b',
  ],
  [
    'then those that have waited longest',
    [hostWith('a', { status: { since: later } }), hostWith('b', { status: { since: earlier } })],
    'free b',
  ],
  [
    'then those of known age',
    [hostWith('a', { status: { since: '?' } }), hostWith('b', { status: { since: earlier } })],
    'free b',
  ],
  ['then the first by name, in whatever order they come', [hostWith('b'), hostWith('a'), hostWith('c')], 'free a'],
];

describe('chooseHost', () => {
  for (const [title, hosts, expected, reserved] of table) {
    test(title, () => {
      assert.equal(answer(hosts, reserved), expected);
      assert.equal(answer(hosts.toReversed(), reserved), expected);
    });
  }

  test('an empty pool prefix matches no pool', () => {
    assert.equal(answer([hostWith('h')], [], { ...wanted, poolPrefix: '' }), 'none');
  });

  test('an OS pin with a version means its family', () => {
    assert.equal(answer([hostWith('h')], [], { ...wanted, os: 'macos-tahoe-26.1' }), 'free h');
  });
});

describe('when no Mac is available', () => {
  test('the message lists the requirements and what there is instead', () => {
    const hosts = [
      hostWith('a', theirs),
      hostWith('b', theirs),
      hostWith('c', { status: { type: 'M1-M' } }),
      hostWith('d', { status: { osFamily: 'Sequoia', osImage: 'macos-sequoia-15.3' } }),
      hostWith('e', { status: { serverStatus: 'rebooting' } }),
      hostWith('f', { status: quarantine(later) }),
      hostWith('g'),
      hostWith('h', { spec: { zone: 'fr-par-3' } }),
      hostWith('i', { status: { state: 'stranded', name: 'x' } }),
      hostWith('j', { status: { name: 'other-1' } }),
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

  test('the message says that there is no Mac at all', () => {
    assert.match((choose([]) as { message: string }).message, /There is no Mac at all, or none has been listed yet/);
  });

  const kinds: readonly [string, Live<MacHost>][] = [
    ['unknown type with unknown OS not looked at yet', unseen('h')],
    ['M2-L with Tahoe that Scaleway no longer has', hostWith('h', { metadata: { deletionTimestamp: earlier } })],
    ['M2-L with Tahoe abandoned', hostWith('h', { status: { state: 'abandoned' } })],
    ['M2-L with Tahoe releasing', hostWith('h', { status: { state: 'releasing' } })],
  ];
  for (const [kind, host] of kinds)
    test(`the message lists: 1 ${kind}`, () => {
      assert.match((choose([host]) as { message: string }).message, new RegExp(`there are: 1 ${kind}\\. Order one`));
    });

  test('the message says that no pool is wanted', () => {
    const choice = choose([hostWith('h')], [], { ...wanted, poolPrefix: '' }) as { message: string };
    assert.match(choice.message, /whose name begins with \(no prefix\)\./);
  });

  test('the message of a wait says what is waited for', () => {
    const messageOf = (status: MacHostStatus): string =>
      (choose([hostWith('z', recorded(status))]) as { message: string }).message;
    const recordedAs = 'The server z is recorded as that of tuist-tuist-a, but is';
    assert.equal(messageOf({ serverStatus: 'rebooting' }), `${recordedAs} rebooting. It is taken once it is ready.`);
    const { serverStatus: _, ...status } = hostWith('z', recorded()).status ?? {};
    const { message } = choose([{ ...hostWith('z'), status }]) as { message: string };
    assert.equal(message, `${recordedAs} in an unknown state. It is taken once it is ready.`);
  });

  test('the message sums up beyond twelve kinds', () => {
    const hosts = Array.from({ length: 100 }, (_, at) => hostWith(`h${at}`, { status: { type: `T${at}` } }));
    const { message } = choose(hosts) as { message: string };
    assert.match(message, /, 88 of other kinds\. Order one/);
    assert.equal(message.match(/ with Tahoe free/g)?.length, 12);
  });
});

describe('chooseHost, for any pool', () => {
  const mostly = <T>(usual: T, ...others: T[]) =>
    fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
  const fields = fc.record({
    consumer: mostly(undefined, heldBy(wanted.name, wanted.uid), heldBy('o', 'uid-o'), heldBy('o', 'uid-o')),
    release: mostly(undefined, exampleRelease),
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
      const host = hostWith(at === 3 ? 'z' : `h${at}`, {
        // CEL refuses both at once.
        spec: { zone, ...(consumer ? { consumerRef: consumer } : release && { release }) },
        metadata: deleting ? { deletionTimestamp: earlier } : {},
      });
      const known = Object.entries(status).filter(([, value]) => value !== undefined);
      return { ...host, status: { ...Object.fromEntries(known), ...(until !== undefined && quarantine(until)) } };
    });

  test('never chooses an unsuitable Mac', () => {
    let chosen = 0;
    fc.assert(
      fc.property(fc.array(fields, { maxLength: 8 }), (all) => {
        const hosts = built(all);
        const reserved = hosts.filter((_, at) => all[at]?.reserved).map(({ metadata }) => metadata.name);
        const choice = choose(hosts, reserved);
        if (choice.kind === 'none') return assert.ok(choice.message.startsWith('No M2-L with Tahoe is free'));
        const { spec, status = {}, metadata } = choice.host;
        if (choice.kind === 'chosen' && choice.reason === 'held')
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
        if (choice.reason === 'recorded')
          return assert.deepEqual([metadata.name, status.name], [wanted.recordedServer, wanted.name]);
        assert.equal(status.state, 'pool');
        assert.ok(status.name?.startsWith('tuist-pool-'));
      }),
      { numRuns: 2000 },
    );
    assert.ok(chosen > 500, `only ${chosen} times was there anything to choose`);
  });
});

describe("claimBlockedBy, for the Mac that is recorded as this machine's", () => {
  const recordedWith = (change: Parameters<typeof hostWith>[1] = {}) =>
    hostWith('z', { ...change, status: { ...recorded().status, ...change.status } });
  const blocked: readonly (readonly [what: string, host: Live<MacHost>, blocker: ClaimBlocker | undefined])[] = [
    ['nothing', recordedWith(), undefined],
    ['a deletion', recordedWith({ metadata: { deletionTimestamp: earlier } }), 'going'],
    ['a deletion, though it holds it', recordedWith({ ...mine, metadata: { deletionTimestamp: earlier } }), 'going'],
    ['another holder', recordedWith(theirs), 'held'],
    ['its own hold, whatever the state', recordedWith({ ...mine, status: { state: 'quarantined' } }), undefined],
    [
      'the annotation of a person',
      recordedWith({ metadata: { annotations: { 'tuist.dev/abandon': '' } } }),
      'abandoned',
    ],
    ['the state abandoned', recordedWith({ status: { state: 'abandoned' } }), 'abandoned'],
    ['a release', recordedWith({ spec: { release: exampleRelease } }), 'releasing'],
    ['the state releasing', recordedWith({ status: { state: 'releasing' } }), 'releasing'],
    ['the state quarantined', recordedWith({ status: { state: 'quarantined' } }), 'quarantined'],
    ['a quarantine until later', recordedWith({ status: quarantine(later) }), 'quarantined'],
    ['a quarantine until now', recordedWith({ status: quarantine('2026-06-01T00:00:00Z') }), undefined],
    ['a quarantine without a valid end', recordedWith({ status: quarantine('never') }), 'quarantined'],
    ['another zone', recordedWith({ spec: { zone: 'fr-par-3' } }), 'other zone'],
    ['another type', recordedWith({ status: { type: 'M1-M' } }), 'other type'],
    ['another macOS', recordedWith({ status: { osFamily: 'Sequoia', osImage: 'macos-sequoia-15.3' } }), 'other os'],
    ['another name', recordedWith({ status: { name: 'other' } }), 'not in the pool'],
    ['a reboot', recordedWith({ status: { serverStatus: 'rebooting' } }), 'not ready'],
    ['an empty status', { ...recordedWith(), status: {} }, 'other type'],
  ];
  for (const [what, host, blocker] of blocked)
    test(`${what}: ${blocker ?? 'free'}`, () => assert.equal(claimBlockedBy(wanted, host, now), blocker));
});
