import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from './decide.ts';
import type { Decision } from './decision.ts';
import type { MachineFacts, Snapshot } from './snapshot.ts';
import {
  at,
  driftedSnapshot,
  host,
  readySnapshot,
  machineWith,
  node,
  now,
  provisioned,
  claimedSnapshot,
  tried,
} from './testing/snapshots.ts';

type Row = [string, Snapshot, Partial<Decision> & { kind: Decision['kind'] }];

const check = (rows: readonly Row[]): void => {
  for (const [name, snapshot, expected] of rows)
    it(`${name}: ${expected.kind}`, () => {
      assert.partialDeepStrictEqual(decide(snapshot), expected);
    });
};

const hostless: Snapshot = {
  ...claimedSnapshot,
  machine: machineWith({ serverID: '' }, { providerID: undefined }),
  host: { kind: 'none' },
  login: { kind: 'missing' },
  choice: { kind: 'chosen', serverID: 'server-1' },
};
const of = (snapshot: Snapshot, more: Partial<Snapshot>): Snapshot => ({ ...snapshot, ...more });
const busyRunner = { kind: 'there', id: 7, isBusy: true } as const;
const silent = (forMs: number, wasBusy = false) => ({ kind: 'unknown', forMs, wasBusy, message: 'm' }) as const;
const deletingOf = (more: Partial<Snapshot>): Snapshot =>
  of(readySnapshot, { machine: provisioned({}, { deleting: true }), ...more });

describe('decide: prerequisites', () => {
  check([
    [
      'it has no finalizer',
      of(claimedSnapshot, { machine: machineWith({}, { hasFinalizer: false }) }),
      { kind: 'add finalizer' },
    ],
    [
      'no finalizer and a pause',
      of(claimedSnapshot, {
        machine: machineWith({}, { hasFinalizer: false }),
        cluster: { pauseReasons: ['x'], waitingFor: undefined },
      }),
      { kind: 'pause', why: 'x' },
    ],
    [
      'clusterctl would move it',
      of(claimedSnapshot, { machine: machineWith({}, { blocksMove: false }) }),
      { kind: 'block move' },
    ],
    [
      'a pause',
      of(claimedSnapshot, { cluster: { pauseReasons: ['a', 'b'], waitingFor: 'c' } }),
      { kind: 'pause', why: 'a, b' },
    ],
    [
      'a pause of a provisioned machine',
      of(driftedSnapshot, { cluster: { pauseReasons: ['a'], waitingFor: undefined } }),
      { kind: 'pause' },
    ],
    [
      'no owner yet',
      of(claimedSnapshot, { cluster: { pauseReasons: [], waitingFor: 'c' } }),
      { kind: 'await cluster', message: 'c' },
    ],
  ]);
});

describe('decide: claim', () => {
  check([
    ['a free Mac', hostless, { kind: 'reserve', serverID: 'server-1' }],
    [
      'no pool',
      of(hostless, { machine: machineWith({ serverID: '' }, { poolPrefix: undefined, providerID: undefined }) }),
      { kind: 'cannot claim', reason: 'NoAdoptPoolPrefix' },
    ],
    [
      'a pool that the manager does not allow',
      of(hostless, {
        machine: machineWith(
          { serverID: '' },
          { poolPrefix: 'their-pool-', allowedPoolPrefixes: ['tuist-pool-', 'b-'], providerID: undefined },
        ),
      }),
      {
        kind: 'cannot claim',
        reason: 'PoolPrefixNotAllowed',
        message:
          'spec.adoptPoolPrefix is their-pool-, and this manager claims only from tuist-pool-, b-. Add the prefix to --adopt-pool-prefixes, or correct the template and delete the Machine.',
      },
    ],
    [
      'a pool, and the manager allows none',
      of(hostless, { machine: machineWith({ serverID: '' }, { allowedPoolPrefixes: [], providerID: undefined }) }),
      {
        kind: 'cannot claim',
        message:
          'spec.adoptPoolPrefix is tuist-pool-, and this manager claims only from no pool. Add the prefix to --adopt-pool-prefixes, or correct the template and delete the Machine.',
      },
    ],
    [
      'Macs were not looked at',
      of(hostless, { choice: { kind: 'not asked' } }),
      { kind: 'cannot claim', reason: 'NoAvailableHost', message: undefined },
    ],
    [
      'reserved in a pool that the manager does not allow any more',
      of(claimedSnapshot, {
        machine: machineWith({}, { allowedPoolPrefixes: ['b-'] }),
        host: { ...host, holder: 'nobody', inPool: true, nameMatches: false, nameVerified: false },
      }),
      { kind: 'detach host' },
    ],
    [
      'an OS version instead of a family',
      of(hostless, { machine: machineWith({ serverID: '' }, { versionedPin: true, providerID: undefined }) }),
      { kind: 'cannot claim', reason: 'InvalidOSPin' },
    ],
    [
      'no key yet: Scaleway would not put it on the Mac',
      of(hostless, { fleetKey: { kind: 'unavailable', message: 'k' } }),
      { kind: 'await key', message: 'k' },
    ],
    [
      'a key that is being made',
      of(hostless, { fleetKey: { kind: 'pending' } }),
      { kind: 'await key', message: 'The SSH key of the fleet is being made.' },
    ],
    [
      'no suitable Mac',
      of(hostless, { choice: { kind: 'none', message: 'm' } }),
      { kind: 'cannot claim', reason: 'NoAvailableHost', message: 'm' },
    ],
    [
      'reserved, and in the pool',
      of(claimedSnapshot, {
        host: { ...host, holder: 'nobody', inPool: true, nameMatches: false, nameVerified: false },
      }),
      { kind: 'take' },
    ],
    [
      'reserved, with matching providerID and name',
      of(claimedSnapshot, { host: { ...host, holder: 'nobody' } }),
      { kind: 'take' },
    ],
    [
      'reserved, with matching name only',
      of(claimedSnapshot, { host: { ...host, holder: 'nobody', providerIDMatches: false } }),
      { kind: 'detach host' },
    ],
    [
      'a Secret that is not its own',
      of(claimedSnapshot, { login: { kind: 'foreign', message: 'm' } }),
      { kind: 'cannot claim', reason: 'CredentialsPersistFailed', message: 'm' },
    ],
    [
      'reserved, neither named nor in the pool',
      of(claimedSnapshot, { host: { ...host, holder: 'nobody', nameMatches: false } }),
      { kind: 'detach host' },
    ],
    [
      'reserved, but taken by another',
      of(claimedSnapshot, { host: { ...host, holder: 'other' } }),
      { kind: 'detach host' },
    ],
    [
      'reserved, but being released',
      of(claimedSnapshot, { host: { ...host, holder: 'nobody', release: { begun: false, stuck: false } } }),
      { kind: 'detach host' },
    ],
    [
      'reserved and under its name, but abandoned',
      of(claimedSnapshot, { host: { ...host, holder: 'nobody', abandoned: true } }),
      { kind: 'detach host' },
    ],
    ['held, but abandoned', of(claimedSnapshot, { host: { ...host, abandoned: true } }), { kind: 'await host' }],
    ['its server is gone', of(claimedSnapshot, { host: { ...host, gone: true } }), { kind: 'detach host' }],
    [
      'no MacHost, but a server',
      of(claimedSnapshot, { host: { kind: 'absent', server: 'exists', message: 'm' } }),
      { kind: 'await host', message: 'm' },
    ],
    [
      'no MacHost, server unknown',
      of(claimedSnapshot, { host: { kind: 'absent', server: 'unknown', message: 'm' } }),
      { kind: 'await host' },
    ],
    [
      'no MacHost and no server',
      of(claimedSnapshot, { host: { kind: 'absent', server: 'gone', message: 'm' } }),
      { kind: 'detach host' },
    ],
    ['held, but not renamed', of(claimedSnapshot, { host: { ...host, nameVerified: false } }), { kind: 'await host' }],
    ['no login', of(claimedSnapshot, { login: { kind: 'missing' } }), { kind: 'fetch credentials' }],
    ['the login of another server', of(claimedSnapshot, { login: { kind: 'stale' } }), { kind: 'fetch credentials' }],
    [
      'no password',
      of(claimedSnapshot, { login: { kind: 'known', hasPassword: false } }),
      { kind: 'fetch credentials' },
    ],
    [
      'no password a moment ago',
      of(claimedSnapshot, {
        login: { kind: 'known', hasPassword: false },
        machine: machineWith(tried('Credentials', 'MissingSudoPassword', 4)),
      }),
      { kind: 'back off', forMs: 60_000, reason: 'no login' },
    ],
    [
      'no password for the third time, a moment ago',
      of(claimedSnapshot, {
        login: { kind: 'known', hasPassword: false },
        failedRead: { outcome: 'MissingSudoPassword', inARow: 3, forMs: 60_000 },
      }),
      { kind: 'back off', forMs: 19 * 60_000, reason: 'no login' },
    ],
    [
      'no password for the hundredth time, an hour ago',
      of(claimedSnapshot, {
        login: { kind: 'known', hasPassword: false },
        failedRead: { outcome: 'MissingSudoPassword', inARow: 100, forMs: 60 * 60_000 },
      }),
      { kind: 'fetch credentials' },
    ],
    [
      'no password a moment ago, and no Secret any more',
      of(claimedSnapshot, {
        login: { kind: 'missing' },
        failedRead: { outcome: 'MissingSudoPassword', inARow: 1, forMs: 0 },
        machine: machineWith(tried('Credentials', 'MissingSudoPassword', 0)),
      }),
      { kind: 'fetch credentials' },
    ],
    ...(['CredentialsRefreshFailed', 'CredentialsPersistFailed'] as const).flatMap((outcome) =>
      (
        [
          [1, 30_000],
          [2, 60_000],
          [100, 5 * 60_000],
        ] as const
      ).map(
        ([inARow, pause]): Row => [
          `${outcome}, ${inARow} in a row`,
          of(claimedSnapshot, { login: { kind: 'missing' }, failedRead: { outcome, inARow, forMs: 10_000 } }),
          { kind: 'back off', forMs: pause - 10_000, reason: 'no login' },
        ],
      ),
    ),
    [
      'a read that has failed when another process led',
      of(claimedSnapshot, {
        login: { kind: 'missing' },
        machine: machineWith(tried('Credentials', 'CredentialsRefreshFailed', 0.25)),
      }),
      { kind: 'back off', forMs: 15_000, reason: 'no login' },
    ],
    [
      'another failure than that of a read',
      of(claimedSnapshot, { login: { kind: 'stale' }, machine: machineWith(tried('Bootstrap', 'Rejected', 0)) }),
      { kind: 'fetch credentials' },
    ],
    [
      'no password a moment ago, and somebody has put one into the Secret',
      of(claimedSnapshot, { machine: machineWith(tried('Credentials', 'MissingSudoPassword', 4)) }),
      { kind: 'bootstrap' },
    ],
    [
      'no providerID',
      of(claimedSnapshot, { machine: machineWith({}, { providerID: undefined }) }),
      { kind: 'set provider id' },
    ],
    [
      'the providerID of another server stays',
      of(claimedSnapshot, { machine: machineWith({}, { providerID: 'scw-applesilicon://fr-par-1/other' }) }),
      {
        kind: 'lost host',
        reason: 'HostReleased',
        message:
          'spec.providerID is scw-applesilicon://fr-par-1/other, but the machine has the server server-1, which it holds. Delete the Machine to get another one.',
      },
    ],
    [
      'a providerID of another provider is kept',
      of(claimedSnapshot, { machine: machineWith({}, { providerID: 'x' }) }),
      { kind: 'lost host' },
    ],
  ]);
});

describe('decide: a provisioned machine that lost its Mac', () => {
  check([
    [
      'taken by another',
      of(readySnapshot, { host: { ...host, holder: 'other' } }),
      { kind: 'lost host', reason: 'HostReleased' },
    ],
    [
      'being released',
      of(readySnapshot, { host: { ...host, holder: 'nobody', release: { begun: true, stuck: false } } }),
      { kind: 'lost host', reason: 'HostReleased' },
    ],
    [
      'in the pool',
      of(readySnapshot, { host: { ...host, holder: 'nobody', inPool: true, nameMatches: false } }),
      { kind: 'lost host', reason: 'HostReleased' },
    ],
    ['gone', of(readySnapshot, { host: { ...host, gone: true } }), { kind: 'lost host', reason: 'HostGone' }],
    [
      'gone, MacHost too',
      of(readySnapshot, { host: { kind: 'absent', server: 'gone', message: '' } }),
      { kind: 'lost host', reason: 'HostGone' },
    ],
    [
      'its MacHost was recreated without a consumerRef',
      of(readySnapshot, { host: { ...host, holder: 'nobody' } }),
      { kind: 'take' },
    ],
    [
      'somebody renamed it',
      of(readySnapshot, { host: { ...host, nameVerified: false, nameMatches: false } }),
      { kind: 'wait' },
    ],
    ['it has no login any more', of(readySnapshot, { login: { kind: 'missing' } }), { kind: 'fetch credentials' }],
    [
      'it has no login any more, and Scaleway did not give it a moment ago',
      of(readySnapshot, {
        login: { kind: 'missing' },
        failedRead: { outcome: 'CredentialsRefreshFailed', inARow: 1, forMs: 0 },
      }),
      { kind: 'back off', forMs: 30_000, reason: 'no login' },
    ],
    [
      'it has no password any more',
      of(readySnapshot, { login: { kind: 'known', hasPassword: false } }),
      { kind: 'wait' },
    ],
  ]);
});

describe('decide: bootstrap and remediation', () => {
  const failed = (attempts: number, more = {}): MachineFacts =>
    machineWith({ ...tried('Bootstrap', 'Rejected', 5, attempts), ...more });
  check([
    ['first attempt', claimedSnapshot, { kind: 'bootstrap' }],
    ['no key', of(claimedSnapshot, { fleetKey: { kind: 'pending' } }), { kind: 'await key' }],
    ['a failure five minutes ago', of(claimedSnapshot, { machine: failed(1) }), { kind: 'bootstrap' }],
    [
      'a failure half a minute ago',
      of(claimedSnapshot, { machine: failed(1, tried('Bootstrap', 'Rejected', 0.5, 1)) }),
      { kind: 'back off', forMs: 30_000, reason: 'failure' },
    ],
    ['three failures', of(claimedSnapshot, { machine: failed(3) }), { kind: 'reboot' }],
    [
      'three failures and a reboot',
      of(claimedSnapshot, { machine: failed(3, { bootstrapRebootIssued: true }) }),
      { kind: 'bootstrap' },
    ],
    [
      'three failures while Pods run there',
      of(claimedSnapshot, { machine: failed(3), idle: false }),
      { kind: 'bootstrap' },
    ],
    [
      'a reboot not issued yet',
      of(claimedSnapshot, {
        machine: failed(3, { bootstrapRebootIssued: true }),
        host: { ...host, rebootRequestedAt: now - 60_000 },
      }),
      { kind: 'back off', forMs: 30_000, reason: 'reboot' },
    ],
    [
      'a reboot that is issued for an earlier request only',
      of(claimedSnapshot, {
        machine: failed(3, { bootstrapRebootIssued: true }),
        host: { ...host, rebootRequestedAt: now - 200_000, rebootIssuedAt: now - 200_001 },
      }),
      { kind: 'back off', forMs: 30_000, reason: 'reboot' },
    ],
    [
      'a reboot that was issued a minute ago, as it was asked for',
      of(claimedSnapshot, {
        machine: failed(3, { bootstrapRebootIssued: true }),
        host: { ...host, rebootRequestedAt: now - 60_000, rebootIssuedAt: now - 60_000 },
      }),
      { kind: 'bootstrap' },
    ],
    [
      'a reboot that has 15 seconds left',
      of(claimedSnapshot, {
        machine: failed(3, { bootstrapRebootIssued: true }),
        host: { ...host, rebootRequestedAt: now - 585_000, serverStatus: 'rebooting' },
      }),
      { kind: 'back off', forMs: 15_000, reason: 'reboot' },
    ],
    [
      'a reboot under way',
      of(claimedSnapshot, {
        machine: failed(3, { bootstrapRebootIssued: true }),
        host: { ...host, rebootRequestedAt: now - 200_000, rebootIssuedAt: now - 100_000, serverStatus: 'rebooting' },
      }),
      { kind: 'back off', reason: 'reboot' },
    ],
    [
      'a reboot that was asked for this moment: Scaleway still says ready',
      of(claimedSnapshot, {
        machine: failed(3, { bootstrapRebootIssued: true }),
        host: { ...host, rebootRequestedAt: now - 20_000, rebootIssuedAt: now - 10_000 },
      }),
      { kind: 'back off', reason: 'reboot' },
    ],
    [
      'a reboot that is over',
      of(claimedSnapshot, {
        machine: failed(3, { bootstrapRebootIssued: true }),
        host: { ...host, rebootRequestedAt: now - 200_000, rebootIssuedAt: now - 100_000 },
      }),
      { kind: 'bootstrap' },
    ],
    [
      'a reboot that never ends',
      of(claimedSnapshot, {
        machine: failed(3, { bootstrapRebootIssued: true }),
        host: { ...host, rebootRequestedAt: now - 11 * 60_000, serverStatus: 'rebooting' },
      }),
      { kind: 'bootstrap' },
    ],
    [
      'eight failures',
      of(claimedSnapshot, { machine: failed(8), host: { ...host, poolPrefix: 'other-pool-' } }),
      { kind: 'release failed host', reason: 'BootstrapExhausted', poolPrefix: 'other-pool-' },
    ],
    [
      'eight failures, and the Mac came from a pool that is not known',
      of(claimedSnapshot, { machine: failed(8), host: { ...host, poolPrefix: undefined } }),
      { kind: 'release failed host', poolPrefix: 'tuist-pool-' },
    ],
    [
      'eight failures while Pods run there',
      of(claimedSnapshot, { machine: failed(8), idle: false }),
      { kind: 'bootstrap' },
    ],
    [
      'eight failures, and no pool to go to',
      of(claimedSnapshot, {
        machine: { ...failed(8, { bootstrapRebootIssued: true }), poolPrefix: undefined },
        host: { ...host, poolPrefix: undefined },
      }),
      { kind: 'bootstrap' },
    ],
    [
      'eight failures, and giving up is disabled',
      of(claimedSnapshot, {
        machine: failed(8, { bootstrapRebootIssued: true }),
        policy: { ...claimedSnapshot.policy, giveUpAfter: undefined },
      }),
      { kind: 'bootstrap' },
    ],
  ]);
});

describe('decide: the join token', () => {
  const token = { joinTokenID: 'tok111', joinTokenExpires: at(-30) };
  const identity = { nodeName: 'mac-1', issuedAt: now - 60_000, expiresAt: now + 7 * 86_400_000 };
  check([
    [
      'its identity renews the Lease',
      of(readySnapshot, {
        machine: provisioned(token),
        join: { lease: { nodeName: 'mac-1', renewedAt: now - 1000 }, identity },
      }),
      { kind: 'retire token', certificateExpires: identity.expiresAt },
    ],
    [
      'an earlier identity renewed it',
      of(readySnapshot, {
        machine: provisioned(token),
        join: { lease: { nodeName: 'mac-1', renewedAt: now - 61_000 }, identity },
      }),
      { kind: 'wait', forMs: 30_000 },
    ],
    [
      'it has expired',
      of(readySnapshot, { machine: provisioned({ ...token, joinTokenExpires: at(0) }) }),
      { kind: 'retire token', certificateExpires: undefined },
    ],
    [
      'its expiry is unknown',
      of(readySnapshot, { machine: provisioned({ joinTokenID: 'tok111' }) }),
      { kind: 'retire token' },
    ],
  ]);
});

describe('decide: a Node that is missing or not Ready', () => {
  const week = 7 * 86_400_000;
  check([
    [
      'missing for a minute',
      of(readySnapshot, { node: { kind: 'missing', forMs: 60_000 } }),
      { kind: 'wait', drift: 'not reported', forMs: 60_000 },
    ],
    [
      'missing for two minutes, and its certificate is good',
      of(readySnapshot, {
        node: { kind: 'missing', forMs: 120_000 },
        join: { lease: { nodeName: 'mac-1', renewedAt: now - 1000 }, identity: undefined },
      }),
      { kind: 're-register', newJoin: false, reason: 'The Node is gone.' },
    ],
    [
      'missing for two minutes, and it never joined',
      of(readySnapshot, { node: { kind: 'missing', forMs: 120_000 } }),
      { kind: 're-register', newJoin: true },
    ],
    [
      'tried a moment ago',
      of(readySnapshot, {
        node: { kind: 'missing', forMs: 1e6 },
        machine: provisioned(tried('Register', 'Succeeded', 1)),
      }),
      { kind: 'wait', drift: 'pausing', forMs: 60_000 },
    ],
    [
      'missing, and no key',
      of(readySnapshot, { node: { kind: 'missing', forMs: 1e6 }, fleetKey: { kind: 'pending' } }),
      { kind: 'wait', drift: 'no key' },
    ],
    ['a foreign Node', of(readySnapshot, { node: { kind: 'foreign', providerID: 'x' } }), { kind: 'wait' }],
    ['not Ready for a while', of(readySnapshot, { node: { ...node, ready: 'Unknown' } }), { kind: 'wait' }],
    [
      'no Lease renewal since its certificate expired',
      of(readySnapshot, {
        node: { ...node, ready: 'Unknown' },
        join: { lease: { nodeName: 'mac-1', renewedAt: now - week - 1 }, identity: undefined },
      }),
      {
        kind: 're-register',
        newJoin: true,
        reason: 'The certificate of the Mac has expired: it was off for too long to renew it.',
      },
    ],
    [
      'Ready, whatever its Lease says',
      of(readySnapshot, { join: { lease: { nodeName: 'mac-1', renewedAt: now - week - 1 }, identity: undefined } }),
      { kind: 'wait', drift: 'up to date' },
    ],
    [
      'a foreign Node, and its certificate expired',
      of(readySnapshot, {
        node: { kind: 'foreign', providerID: 'x' },
        join: { lease: { nodeName: 'mac-1', renewedAt: now - week - 1 }, identity: undefined },
      }),
      { kind: 'wait', drift: 'up to date' },
    ],
    [
      'renewed its Lease when the recorded certificate expired: it has another one',
      of(readySnapshot, {
        machine: provisioned({ certificateExpires: at(60) }),
        node: { ...node, ready: 'Unknown' },
        join: { lease: { nodeName: 'mac-1', renewedAt: now - 60 * 60_000 }, identity: undefined },
      }),
      { kind: 'wait' },
    ],
    [
      'no Lease, and the recorded certificate expired',
      of(readySnapshot, {
        machine: provisioned({ certificateExpires: at(60) }),
        node: { ...node, ready: 'Unknown' },
        join: { lease: { nodeName: 'mac-1', renewedAt: now - week + 1e6 }, identity: undefined },
      }),
      { kind: 're-register', newJoin: true },
    ],
    [
      'no Lease renewal for an hour, but the certificate was renewed',
      of(readySnapshot, {
        machine: provisioned({ certificateExpires: at(120) }),
        node: { ...node, ready: 'Unknown' },
        join: { lease: { nodeName: 'mac-1', renewedAt: now - 60 * 60_000 }, identity: undefined },
      }),
      { kind: 'wait' },
    ],
    [
      'new credentials were made, but did not get to the Mac',
      of(readySnapshot, {
        machine: provisioned({ joinTokenID: 'tok222', joinTokenExpires: at(-30) }),
        node: { ...node, ready: 'Unknown' },
        join: { lease: { nodeName: 'mac-1', renewedAt: now - week - 1 }, identity: undefined },
      }),
      { kind: 're-register', newJoin: true },
    ],
    [
      'new credentials are on the Mac already',
      of(readySnapshot, {
        machine: provisioned({ joinTokenID: 'tok111', joinTokenExpires: at(-30) }),
        node: { ...node, ready: 'Unknown' },
        join: { lease: { nodeName: 'mac-1', renewedAt: now - week - 1 }, identity: undefined },
      }),
      { kind: 'wait' },
    ],
  ]);
});

describe('decide: drift and roll', () => {
  const cordoned = { ...node, cordonedByUs: true, unschedulable: true };
  const refused = provisioned({
    failedHostConfigHash: 'b',
    ...tried('Update', 'Rejected', 10, 5),
    lastUpdateFailureTime: at(10),
  });
  check([
    ['nothing new', readySnapshot, { kind: 'wait', drift: 'up to date', forMs: 300_000 }],
    ['no turn', of(driftedSnapshot, { turn: undefined }), { kind: 'wait', drift: 'no turn' }],
    [
      'no turn and no known hash',
      of(driftedSnapshot, {
        turn: undefined,
        machine: machineWith({ initialization: { provisioned: true } }),
        node: { ...node, summary: undefined },
      }),
      { kind: 'wait', drift: 'not reported' },
    ],
    [
      'all but a step that may fail',
      of(driftedSnapshot, {
        machine: provisioned({ leftOut: { desired: 'b', actual: 'a', message: 'm', at: at(1) } }),
      }),
      { kind: 'wait', drift: 'up to date' },
    ],
    [
      'Pods, and cordoned by somebody else',
      of(driftedSnapshot, { idle: false, node: { ...node, unschedulable: true } }),
      { kind: 'roll', idle: false },
    ],
    [
      'a turn for something else',
      of(driftedSnapshot, { turn: { hash: 'c', rollBack: false } }),
      { kind: 'wait', drift: 'no turn' },
    ],
    ['a turn', driftedSnapshot, { kind: 'roll', hash: 'b', idle: false }],
    ['a turn and Pods', of(driftedSnapshot, { idle: false }), { kind: 'roll', idle: false }],
    [
      'idle and unschedulable',
      of(driftedSnapshot, { node: { ...node, unschedulable: true } }),
      { kind: 'roll', idle: true },
    ],
    [
      'cordoned by us, and Pods',
      of(driftedSnapshot, { node: cordoned, idle: false }),
      { kind: 'wait', drift: 'waiting for idle' },
    ],
    ['cordoned by us, and idle', of(driftedSnapshot, { node: cordoned }), { kind: 'roll', idle: true }],
    ['cordoned by us, and done', of(readySnapshot, { node: cordoned }), { kind: 'uncordon' }],
    ['cordoned by us, without a turn', of(driftedSnapshot, { node: cordoned, turn: undefined }), { kind: 'uncordon' }],
    [
      'cordoned by somebody else, and done',
      of(readySnapshot, { node: { ...node, unschedulable: true } }),
      { kind: 'wait' },
    ],
    ['no key', of(driftedSnapshot, { fleetKey: { kind: 'pending' } }), { kind: 'wait', drift: 'no key' }],
    [
      'unreachable a moment ago',
      of(driftedSnapshot, { machine: provisioned(tried('Update', 'HostUnreachable', 4)) }),
      { kind: 'wait', drift: 'pausing', forMs: 60_000 },
    ],
    [
      'pushed half a minute ago, and its agent has yet to restart',
      of(driftedSnapshot, { machine: provisioned({ ...tried('Update', 'Succeeded', 0.5), hostConfigHash: 'c' }) }),
      { kind: 'wait', drift: 'pausing', forMs: 30_000 },
    ],
    [
      'pushed half a minute ago, and its agent reports that',
      of(driftedSnapshot, { machine: provisioned(tried('Update', 'Succeeded', 0.5)) }),
      { kind: 'roll' },
    ],
    [
      'pushed half a minute ago, and its agent, which reported that, is down',
      of(driftedSnapshot, {
        machine: provisioned(tried('Update', 'Succeeded', 0.5)),
        node: { ...node, ready: 'Unknown' },
      }),
      { kind: 'wait', drift: 'pausing', forMs: 30_000 },
    ],
    [
      'cordoned by us a moment ago: it waits for an idle Mac, and for no time',
      of(driftedSnapshot, { machine: provisioned(tried('Update', 'WaitingForIdle', 0)), node: cordoned, idle: false }),
      { kind: 'wait', drift: 'waiting for idle' },
    ],
    [
      'not idle a moment ago, and cordoned by somebody else',
      of(driftedSnapshot, {
        machine: provisioned(tried('Update', 'WaitingForIdle', 0.5)),
        node: { ...node, unschedulable: true },
      }),
      { kind: 'wait', drift: 'pausing', forMs: 30_000 },
    ],
    [
      'refused half a minute ago, but not for good',
      of(driftedSnapshot, { machine: provisioned(tried('Update', 'Rejected', 0.5, 1)) }),
      { kind: 'wait', drift: 'pausing', forMs: 30_000 },
    ],
    [
      'refused two minutes ago, but not for good',
      of(driftedSnapshot, { machine: provisioned(tried('Update', 'Rejected', 2, 1)) }),
      { kind: 'roll' },
    ],
    ['refused for good', of(driftedSnapshot, { machine: refused }), { kind: 'wait', drift: 'refused', forMs: 300_000 }],
    [
      'refused for good, to be tried again in two minutes',
      of(driftedSnapshot, { machine: provisioned({ failedHostConfigHash: 'b', lastUpdateFailureTime: at(28) }) }),
      { kind: 'wait', drift: 'refused', forMs: 120_000 },
    ],
    ['cordoned, and refused for good', of(driftedSnapshot, { machine: refused, node: cordoned }), { kind: 'uncordon' }],
    [
      'refused for good half an hour ago',
      of(driftedSnapshot, { machine: provisioned({ failedHostConfigHash: 'b', lastUpdateFailureTime: at(30) }) }),
      { kind: 'clear refusal', reason: 'cooldown' },
    ],
    [
      'rejected for good, at an unknown time',
      of(driftedSnapshot, { machine: provisioned({ failedHostConfigHash: 'b' }) }),
      { kind: 'clear refusal', reason: 'cooldown' },
    ],
    [
      'rejected, and automatic retries are off',
      of(driftedSnapshot, {
        machine: provisioned({ failedHostConfigHash: 'b', lastUpdateFailureTime: at(1e4) }),
        policy: { ...claimedSnapshot.policy, updateRetryAfterMs: undefined },
      }),
      { kind: 'wait', drift: 'refused', forMs: 300_000 },
    ],
    [
      'rejected at an unknown time, and automatic retries are off',
      of(driftedSnapshot, {
        machine: provisioned({ failedHostConfigHash: 'b' }),
        policy: { ...claimedSnapshot.policy, updateRetryAfterMs: undefined },
      }),
      { kind: 'wait', drift: 'refused', forMs: 300_000 },
    ],
    [
      'refused something else',
      of(driftedSnapshot, { machine: provisioned({ failedHostConfigHash: 'x', lastUpdateFailureTime: at(1) }) }),
      { kind: 'clear refusal', reason: 'another hash' },
    ],
    [
      'pushed a moment ago, and the agent has not said so yet',
      of(driftedSnapshot, { machine: provisioned({ hostConfigHash: 'b', ...tried('Update', 'Succeeded', 0.5) }) }),
      { kind: 'wait', drift: 'up to date' },
    ],
    [
      'pushed, but the agent does not start: left to the fleet',
      of(driftedSnapshot, { machine: provisioned({ hostConfigHash: 'b' }), node: { ...node, ready: 'Unknown' } }),
      { kind: 'wait', drift: 'up to date' },
    ],
    [
      'pushed long ago, and the agent says otherwise',
      of(driftedSnapshot, { machine: provisioned({ hostConfigHash: 'b' }) }),
      { kind: 'roll' },
    ],
    [
      'to be rolled back',
      of(driftedSnapshot, { turn: { hash: 'b', rollBack: true } }),
      { kind: 'roll back', hash: 'b' },
    ],
    [
      'to be rolled back, but there is no key',
      of(driftedSnapshot, { turn: { hash: 'b', rollBack: true }, fleetKey: { kind: 'pending' } }),
      { kind: 'wait', drift: 'no key' },
    ],
    [
      'to be rolled back, whatever hash is desired now',
      of(readySnapshot, { turn: { hash: 'b', rollBack: true } }),
      { kind: 'roll back', hash: 'b' },
    ],
    [
      'rolled back already',
      of(driftedSnapshot, { machine: refused, turn: { hash: 'b', rollBack: true } }),
      { kind: 'wait', drift: 'refused' },
    ],
    [
      'to be rolled back, but it did not answer',
      of(driftedSnapshot, {
        turn: { hash: 'b', rollBack: true },
        machine: provisioned(tried('RollBack', 'HostUnreachable', 4)),
      }),
      { kind: 'wait', drift: 'pausing', forMs: 60_000 },
    ],
    [
      'desired state unknown, and cordoned by us',
      of(readySnapshot, { desired: { kind: 'problem', message: '' }, node: cordoned }),
      { kind: 'uncordon' },
    ],
    [
      'desired state unknown',
      of(readySnapshot, { desired: { kind: 'problem', message: '' } }),
      { kind: 'wait', drift: 'no plan' },
    ],
  ]);
});

describe('decide: deletion', () => {
  check([
    [
      'without our finalizer',
      deletingOf({ machine: machineWith({}, { deleting: true, hasFinalizer: false }) }),
      { kind: 'ignore' },
    ],
    ['no Mac', deletingOf({ host: { kind: 'none' } }), { kind: 'clean up', reason: 'no host' }],
    ['its Mac', deletingOf({}), { kind: 'release', poolPrefix: 'tuist-pool-' }],
    ['its runner is gone', deletingOf({ runner: { kind: 'none' } }), { kind: 'release' }],
    [
      'its runner is idle',
      deletingOf({ runner: { kind: 'there', id: 7, isBusy: false } }),
      { kind: 'remove runner', id: 7 },
    ],
    ['its runner has a job', deletingOf({ runner: busyRunner }), { kind: 'await runner' }],
    [
      'its runner has a job, and its Mac is gone',
      deletingOf({ host: { ...host, gone: true }, runner: busyRunner }),
      { kind: 'clean up' },
    ],
    ['GitHub does not answer', deletingOf({ runner: silent(599_999) }), { kind: 'await runner' }],
    ['GitHub has not answered for ten minutes', deletingOf({ runner: silent(600_000) }), { kind: 'release' }],
    [
      'GitHub is silent, and the runner had a job',
      deletingOf({ runner: silent(600_000, true) }),
      { kind: 'await runner' },
    ],
    ['the same for longer than a job', deletingOf({ runner: silent(6 * 3_600_000, true) }), { kind: 'release' }],
    [
      'its runner is idle, and there is no pool',
      deletingOf({
        machine: provisioned({}, { deleting: true, poolPrefix: undefined }),
        host: { ...host, poolPrefix: undefined },
        runner: { kind: 'there', id: 7, isBusy: false },
      }),
      { kind: 'remove runner', id: 7 },
    ],
    [
      'its Mac, while paused',
      deletingOf({ cluster: { pauseReasons: ['x'], waitingFor: 'y' } }),
      { kind: 'pause', why: 'x' },
    ],
    [
      'the pool that the Mac came from wins',
      deletingOf({ host: { ...host, poolPrefix: 'other-pool-' } }),
      { kind: 'release', poolPrefix: 'other-pool-' },
    ],
    [
      'no pool known',
      deletingOf({
        machine: provisioned({}, { deleting: true, poolPrefix: undefined }),
        host: { ...host, poolPrefix: undefined },
      }),
      { kind: 'clean up', reason: 'skipped' },
    ],
    [
      'being released, wipe not started',
      deletingOf({ host: { ...host, holder: 'nobody', release: { begun: false, stuck: false } } }),
      { kind: 'await wipe' },
    ],
    [
      'being released, wipe started',
      deletingOf({ host: { ...host, holder: 'nobody', release: { begun: true, stuck: false } } }),
      { kind: 'clean up', reason: 'released' },
    ],
    [
      'Scaleway does not wipe it',
      deletingOf({ host: { ...host, holder: 'nobody', release: { begun: false, stuck: true } } }),
      { kind: 'clean up', reason: 'not wiped' },
    ],
    [
      'a person has abandoned it',
      deletingOf({ host: { ...host, abandoned: true } }),
      { kind: 'clean up', reason: 'abandoned' },
    ],
    [
      'abandoned while being released',
      deletingOf({ host: { ...host, holder: 'nobody', release: { begun: false, stuck: false }, abandoned: true } }),
      { kind: 'clean up', reason: 'abandoned' },
    ],
    [
      'abandoned, with a runner that has a job',
      deletingOf({ host: { ...host, abandoned: true }, runner: { kind: 'there', id: 7, isBusy: true } }),
      {
        kind: 'clean up',
        reason: 'abandoned',
        runnerLeft: 'Its runner may still be on the list at GitHub: remove it there.',
      },
    ],
    [
      'abandoned, with a runner that has none',
      deletingOf({ host: { ...host, abandoned: true }, runner: { kind: 'there', id: 7, isBusy: false } }),
      { kind: 'remove runner', id: 7 },
    ],
    ['in the pool again', deletingOf({ host: { ...host, holder: 'nobody', inPool: true } }), { kind: 'clean up' }],
    ['held by another machine', deletingOf({ host: { ...host, holder: 'other' } }), { kind: 'clean up' }],
    ['gone', deletingOf({ host: { ...host, gone: true } }), { kind: 'clean up', reason: 'host gone' }],
    [
      'no MacHost, server unknown',
      deletingOf({ host: { kind: 'absent', server: 'unknown', message: '' } }),
      { kind: 'await wipe' },
    ],
    [
      'no MacHost and no server',
      deletingOf({ host: { kind: 'absent', server: 'gone', message: '' } }),
      { kind: 'clean up', reason: 'host gone' },
    ],
  ]);
});

describe('decide: messages about the runner of a deleted machine', () => {
  const left =
    'Its runner is still on the list at GitHub, which forgets a runner that has been offline for 14 days. Remove it there if it is in the way. m';
  const silence = 'Its runner could not be taken off the list at GitHub yet: m';
  const release = { kind: 'release', poolPrefix: 'tuist-pool-' } as const;
  const abandoned = { kind: 'clean up', reason: 'abandoned' } as const;
  const rows: readonly [string, Partial<Snapshot>, Decision][] = [
    ['nothing, without one', {}, release],
    ['that it is left, after a long silence', { runner: silent(600_000) }, { ...release, runnerLeft: left }],
    ['why it is waited for', { runner: silent(0) }, { kind: 'await runner', message: silence }],
    [
      'that it had a job',
      { runner: silent(0, true) },
      { kind: 'await runner', message: `Its runner had a job when GitHub was last heard. ${silence}` },
    ],
    [
      'that it has a job',
      { runner: busyRunner },
      {
        kind: 'await runner',
        message:
          'Its runner has a job at GitHub. The Mac goes back when that has ended; cancel it there if nobody needs it.',
      },
    ],
    ['nothing, without one on an abandoned Mac', { host: { ...host, abandoned: true } }, abandoned],
    [
      'that it may be left, on an abandoned Mac',
      { host: { ...host, abandoned: true }, runner: silent(0) },
      { ...abandoned, runnerLeft: 'Its runner may still be on the list at GitHub: remove it there.' },
    ],
  ];
  for (const [what, more, expected] of rows) it(what, () => assert.deepEqual(decide(deletingOf(more)), expected));
});

describe('decide: machines that are refused', () => {
  const refusal = { reason: 'NotInCluster', message: 'm' } as const;
  const outside = { pauseReasons: [], refusal, waitingFor: undefined };
  const foreign = { kind: 'foreign', providerID: 'aws://x' } as const;
  check([
    ['a machine that is not allowed', of(hostless, { cluster: outside }), { kind: 'refuse', reason: 'NotAllowed' }],
    [
      'the same without a finalizer: it gets none',
      of(hostless, { cluster: outside, machine: machineWith({ serverID: '' }, { hasFinalizer: false }) }),
      { kind: 'refuse', reason: 'NotAllowed', message: 'm' },
    ],
    [
      'the same with a Mac that was never bootstrapped',
      of(claimedSnapshot, { cluster: outside }),
      { kind: 'refuse', reason: 'NotAllowed' },
    ],
    ['a provisioned machine keeps its Mac', of(driftedSnapshot, { cluster: outside }), { kind: 'roll' }],
    ['one that is deleted gives its Mac back', deletingOf({ cluster: outside }), { kind: 'release' }],
    [
      'a machine deleted before its bootstrap',
      of(claimedSnapshot, { cluster: outside, machine: machineWith({}, { deleting: true }) }),
      { kind: 'release' },
    ],
    ['another Node has its name', of(hostless, { node: foreign }), { kind: 'refuse', reason: 'NodeNameTaken' }],
    [
      'another Node has its name since its Mac was reserved',
      of(claimedSnapshot, { node: foreign }),
      { kind: 'refuse', reason: 'NodeNameTaken' },
    ],
    [
      'the same after many failures: its Mac is not given back, as nothing is known of what runs there',
      of(claimedSnapshot, { node: foreign, machine: machineWith(tried('Bootstrap', 'Rejected', 5, 99)) }),
      { kind: 'refuse', reason: 'NodeNameTaken' },
    ],
    [
      'another Node has its name, and its Mac is lost',
      of(claimedSnapshot, { node: foreign, host: { ...host, holder: 'other' } }),
      { kind: 'detach host' },
    ],
    ['its own Node', of(hostless, { node }), { kind: 'reserve' }],
  ]);

  const remedy = 'Delete the Machine, to get one with another name; or delete the Node, if nobody needs it';
  const unknown = "has no providerID, and is not at the address of this machine's Mac";
  const messages: readonly [string, Snapshot, who: string, remedies: string][] = [
    ['of another server', of(claimedSnapshot, { node: foreign }), 'is another server (aws://x)', remedy],
    [
      'without a providerID',
      of(claimedSnapshot, { node: { kind: 'foreign', providerID: '' } }),
      unknown,
      `${remedy}; or set its spec.providerID to scw-applesilicon://fr-par-1/server-1, if it is that Mac`,
    ],
    [
      'without a providerID, for a machine that has none',
      of(hostless, { node: { kind: 'foreign', providerID: '' } }),
      unknown,
      remedy,
    ],
  ];
  for (const [what, snapshot, who, remedies] of messages)
    it(`says what to do about a Node ${what}`, () =>
      assert.partialDeepStrictEqual(decide(snapshot), {
        message: `The Node mac-1 ${who}. Nobody else gets an identity under its name. ${remedies}.`,
      }));
});
