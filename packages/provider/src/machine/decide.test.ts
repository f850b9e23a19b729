import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from './decide.ts';
import type { Decision } from './decision.ts';
import type { Snapshot } from './snapshot.ts';
import { at, drifting, host, living, machineWith, node, now, provisioned, usual } from './testing/snapshots.ts';

type Row = [string, Snapshot, Partial<Decision> & { kind: Decision['kind'] }];

const check = (rows: readonly Row[]): void => {
  for (const [name, snapshot, expected] of rows)
    it(`${name}: ${expected.kind}`, () => {
      assert.partialDeepStrictEqual(decide(snapshot), expected);
    });
};

const hostless: Snapshot = {
  ...usual,
  machine: machineWith({ serverID: '' }, { providerID: undefined }),
  host: { kind: 'none' },
  login: { kind: 'missing' },
  choice: { kind: 'chosen', serverID: 'server-1' },
};
const of = (snapshot: Snapshot, more: Partial<Snapshot>): Snapshot => ({ ...snapshot, ...more });
const busyRunner = { kind: 'there', id: 7, isBusy: true } as const;
const silent = (forMs: number, wasBusy = false) => ({ kind: 'unknown', forMs, wasBusy, message: 'm' }) as const;
const deletingOf = (more: Partial<Snapshot>): Snapshot =>
  of(living, { machine: provisioned({}, { deleting: true }), ...more });

describe('what comes before anything is done for a machine', () => {
  check([
    ['it is gone', of(usual, { machine: undefined }), { kind: 'forget' }],
    ['it has no finalizer', of(usual, { machine: machineWith({}, { held: false }) }), { kind: 'add finalizer' }],
    [
      'no finalizer and a pause',
      of(usual, { machine: machineWith({}, { held: false }), cluster: { pauses: ['x'], waitsFor: undefined } }),
      { kind: 'pause', why: 'x' },
    ],
    [
      'clusterctl would move it',
      of(usual, { machine: machineWith({}, { blocksMove: false }) }),
      { kind: 'block move' },
    ],
    ['a pause', of(usual, { cluster: { pauses: ['a', 'b'], waitsFor: 'c' } }), { kind: 'pause', why: 'a, b' }],
    ['a pause of one that lives', of(drifting, { cluster: { pauses: ['a'], waitsFor: undefined } }), { kind: 'pause' }],
    ['no owner yet', of(usual, { cluster: { pauses: [], waitsFor: 'c' } }), { kind: 'await cluster', message: 'c' }],
  ]);
});

describe('how a machine gets a Mac', () => {
  check([
    ['a free one', hostless, { kind: 'reserve', serverID: 'server-1' }],
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
      'reserved in a pool that the manager does not allow any more',
      of(usual, {
        machine: machineWith({}, { allowedPoolPrefixes: ['b-'] }),
        host: { ...host, holder: 'nobody', inPool: true, bearsMyName: false, named: false },
      }),
      { kind: 'let go' },
    ],
    [
      'a version for a family',
      of(hostless, { machine: machineWith({ serverID: '' }, { versionedPin: true, providerID: undefined }) }),
      { kind: 'cannot claim', reason: 'InvalidOSPin' },
    ],
    [
      'no key yet: Scaleway would not put it on the Mac',
      of(hostless, { fleetKey: { kind: 'unavailable', message: 'k' } }),
      { kind: 'await key', message: 'k' },
    ],
    ['a key that is being made', of(hostless, { fleetKey: { kind: 'pending' } }), { kind: 'await key' }],
    [
      'none that fits',
      of(hostless, { choice: { kind: 'none', message: 'm' } }),
      { kind: 'cannot claim', reason: 'NoAvailableHost', message: 'm' },
    ],
    [
      'reserved, and in the pool',
      of(usual, { host: { ...host, holder: 'nobody', inPool: true, bearsMyName: false, named: false } }),
      { kind: 'take' },
    ],
    ['reserved, bound and under its name', of(usual, { host: { ...host, holder: 'nobody' } }), { kind: 'take' }],
    [
      'reserved, and merely under its name',
      of(usual, { host: { ...host, holder: 'nobody', boundToMe: false } }),
      { kind: 'let go' },
    ],
    [
      'a Secret that is not its own',
      of(usual, { login: { kind: 'foreign', message: 'm' } }),
      { kind: 'cannot claim', reason: 'CredentialsPersistFailed', message: 'm' },
    ],
    [
      'reserved, but neither',
      of(usual, { host: { ...host, holder: 'nobody', bearsMyName: false } }),
      { kind: 'let go' },
    ],
    ['reserved, but taken by another', of(usual, { host: { ...host, holder: 'other' } }), { kind: 'let go' }],
    [
      'reserved, but on its way back',
      of(usual, { host: { ...host, holder: 'nobody', release: { begun: false, stuck: false } } }),
      { kind: 'let go' },
    ],
    [
      'reserved and under its name, but abandoned',
      of(usual, { host: { ...host, holder: 'nobody', abandoned: true } }),
      { kind: 'let go' },
    ],
    ['held, but abandoned', of(usual, { host: { ...host, abandoned: true } }), { kind: 'await host' }],
    ['its server is gone', of(usual, { host: { ...host, gone: true } }), { kind: 'let go' }],
    [
      'no MacHost, but a server',
      of(usual, { host: { kind: 'absent', server: 'exists', message: 'm' } }),
      { kind: 'await host', message: 'm' },
    ],
    [
      'no MacHost, and nobody knows',
      of(usual, { host: { kind: 'absent', server: 'unknown', message: 'm' } }),
      { kind: 'await host' },
    ],
    [
      'no MacHost and no server',
      of(usual, { host: { kind: 'absent', server: 'gone', message: 'm' } }),
      { kind: 'let go' },
    ],
    ['held, but not renamed', of(usual, { host: { ...host, named: false } }), { kind: 'await host' }],
    ['no login', of(usual, { login: { kind: 'missing' } }), { kind: 'fetch credentials' }],
    ['the login of another server', of(usual, { login: { kind: 'stale' } }), { kind: 'fetch credentials' }],
    ['no password', of(usual, { login: { kind: 'known', hasPassword: false } }), { kind: 'fetch credentials' }],
    [
      'no password a moment ago',
      of(usual, { login: { kind: 'known', hasPassword: false }, restMs: 7 }),
      { kind: 'back off', forMs: 7 },
    ],
    ['no providerID', of(usual, { machine: machineWith({}, { providerID: undefined }) }), { kind: 'set provider id' }],
    [
      'the providerID of another server stays',
      of(usual, { machine: machineWith({}, { providerID: 'scw-applesilicon://fr-par-1/other' }) }),
      { kind: 'lost host' },
    ],
  ]);
});

describe('what becomes of a machine that works when its Mac is not its own any more', () => {
  check([
    [
      'taken by another',
      of(living, { host: { ...host, holder: 'other' } }),
      { kind: 'lost host', reason: 'HostReleased' },
    ],
    [
      'on its way back',
      of(living, { host: { ...host, holder: 'nobody', release: { begun: true, stuck: false } } }),
      { kind: 'lost host', reason: 'HostReleased' },
    ],
    [
      'in the pool',
      of(living, { host: { ...host, holder: 'nobody', inPool: true, bearsMyName: false } }),
      { kind: 'lost host' },
    ],
    ['gone', of(living, { host: { ...host, gone: true } }), { kind: 'lost host', reason: 'HostGone' }],
    [
      'gone, MacHost too',
      of(living, { host: { kind: 'absent', server: 'gone', message: '' } }),
      { kind: 'lost host', reason: 'HostGone' },
    ],
    ['its MacHost was made again, bare', of(living, { host: { ...host, holder: 'nobody' } }), { kind: 'take' }],
    ['somebody renamed it', of(living, { host: { ...host, named: false, bearsMyName: false } }), { kind: 'rest' }],
    ['it has no password any more', of(living, { login: { kind: 'known', hasPassword: false } }), { kind: 'rest' }],
  ]);
});

describe('how a Mac is made ready, and what if it cannot be', () => {
  const failed = (attempts: number, more = {}): Snapshot['machine'] =>
    machineWith({ bootstrapAttempts: attempts, lastBootstrapFailureTime: at(5), ...more });
  check([
    ['at first', usual, { kind: 'bootstrap' }],
    ['no key', of(usual, { fleetKey: { kind: 'pending' } }), { kind: 'await key' }],
    ['a failure five minutes ago', of(usual, { machine: failed(1) }), { kind: 'bootstrap' }],
    [
      'a failure half a minute ago',
      of(usual, { machine: failed(1, { lastBootstrapFailureTime: at(0.5) }) }),
      { kind: 'back off', forMs: 30_000, because: 'failure' },
    ],
    ['three failures', of(usual, { machine: failed(3) }), { kind: 'reboot' }],
    [
      'three failures and a reboot',
      of(usual, { machine: failed(3, { bootstrapRebootIssued: true }) }),
      { kind: 'bootstrap' },
    ],
    ['three failures while Pods run there', of(usual, { machine: failed(3), idle: false }), { kind: 'bootstrap' }],
    [
      'a reboot that nobody has carried out',
      of(usual, {
        machine: failed(3, { bootstrapRebootIssued: true }),
        host: { ...host, rebootRequestedAt: now - 60_000 },
      }),
      { kind: 'back off', because: 'reboot' },
    ],
    [
      'a reboot under way',
      of(usual, {
        machine: failed(3, { bootstrapRebootIssued: true }),
        host: { ...host, rebootRequestedAt: now - 200_000, rebootIssuedAt: now - 100_000, serverStatus: 'rebooting' },
      }),
      { kind: 'back off', because: 'reboot' },
    ],
    [
      'a reboot that was asked for this moment: Scaleway still says ready',
      of(usual, {
        machine: failed(3, { bootstrapRebootIssued: true }),
        host: { ...host, rebootRequestedAt: now - 20_000, rebootIssuedAt: now - 10_000 },
      }),
      { kind: 'back off', because: 'reboot' },
    ],
    [
      'a reboot that is over',
      of(usual, {
        machine: failed(3, { bootstrapRebootIssued: true }),
        host: { ...host, rebootRequestedAt: now - 200_000, rebootIssuedAt: now - 100_000 },
      }),
      { kind: 'bootstrap' },
    ],
    [
      'a reboot that never ends',
      of(usual, {
        machine: failed(3, { bootstrapRebootIssued: true }),
        host: { ...host, rebootRequestedAt: now - 11 * 60_000, serverStatus: 'rebooting' },
      }),
      { kind: 'bootstrap' },
    ],
    ['eight failures', of(usual, { machine: failed(8) }), { kind: 'give back', reason: 'BootstrapExhausted' }],
    ['eight failures while Pods run there', of(usual, { machine: failed(8), idle: false }), { kind: 'bootstrap' }],
    [
      'eight failures, and no pool to go to',
      of(usual, {
        machine: { ...machineWith({ bootstrapAttempts: 8, bootstrapRebootIssued: true }), poolPrefix: undefined },
        host: { ...host, poolPrefix: undefined },
      }),
      { kind: 'bootstrap' },
    ],
    [
      'eight failures, and nobody wants to give up',
      of(usual, {
        machine: failed(8, { bootstrapRebootIssued: true }),
        policy: { ...usual.policy, giveUpAfter: undefined },
      }),
      { kind: 'bootstrap' },
    ],
  ]);
});

describe('what becomes of the token that a Mac has joined with', () => {
  const token = { joinTokenID: 'tok111', joinTokenExpires: at(-30) };
  const identity = { nodeName: 'mac-1', issuedAt: now - 60_000, expiresAt: now + 7 * 86_400_000 };
  check([
    [
      'its identity renews the Lease',
      of(living, {
        machine: provisioned(token),
        join: { lease: { nodeName: 'mac-1', renewedAt: now - 1000 }, identity },
      }),
      { kind: 'retire token', certificateExpires: identity.expiresAt },
    ],
    [
      'an earlier identity renewed it',
      of(living, {
        machine: provisioned(token),
        join: { lease: { nodeName: 'mac-1', renewedAt: now - 61_000 }, identity },
      }),
      { kind: 'rest', forMs: 30_000 },
    ],
    [
      'it has expired',
      of(living, { machine: provisioned({ ...token, joinTokenExpires: at(1) }) }),
      { kind: 'retire token', certificateExpires: undefined },
    ],
  ]);
});

describe('what is done for a Node that is not there, or not Ready', () => {
  const week = 7 * 86_400_000;
  check([
    ['missing for a minute', of(living, { node: { kind: 'missing', forMs: 60_000 } }), { kind: 'rest', forMs: 60_000 }],
    [
      'missing for two minutes, and its certificate is good',
      of(living, {
        node: { kind: 'missing', forMs: 120_000 },
        join: { lease: { nodeName: 'mac-1', renewedAt: now - 1000 }, identity: undefined },
      }),
      { kind: 're-register', newJoin: false },
    ],
    [
      'missing for two minutes, and it never joined',
      of(living, { node: { kind: 'missing', forMs: 120_000 } }),
      { kind: 're-register', newJoin: true },
    ],
    [
      'tried a moment ago',
      of(living, { node: { kind: 'missing', forMs: 1e6 }, restMs: 9 }),
      { kind: 'rest', forMs: 9 },
    ],
    [
      'missing, and no key',
      of(living, { node: { kind: 'missing', forMs: 1e6 }, fleetKey: { kind: 'pending' } }),
      { kind: 'rest', drift: 'no key' },
    ],
    ['somebody else’s', of(living, { node: { kind: 'foreign', providerID: 'x' } }), { kind: 'rest' }],
    ['not Ready for a while', of(living, { node: { ...node, ready: 'Unknown' } }), { kind: 'rest' }],
    [
      'not heard of since its certificate has ended',
      of(living, {
        node: { ...node, ready: 'Unknown' },
        join: { lease: { nodeName: 'mac-1', renewedAt: now - week - 1 }, identity: undefined },
      }),
      { kind: 're-register', newJoin: true },
    ],
    [
      'not heard of, and the certificate that we know of has ended',
      of(living, {
        machine: provisioned({ certificateExpires: at(60) }),
        node: { ...node, ready: 'Unknown' },
        join: { lease: { nodeName: 'mac-1', renewedAt: now - week + 1e6 }, identity: undefined },
      }),
      { kind: 're-register', newJoin: true },
    ],
    [
      'not heard of for an hour, but with a certificate that was renewed',
      of(living, {
        machine: provisioned({ certificateExpires: at(120) }),
        node: { ...node, ready: 'Unknown' },
        join: { lease: { nodeName: 'mac-1', renewedAt: now - 60 * 60_000 }, identity: undefined },
      }),
      { kind: 'rest' },
    ],
    [
      'new credentials were made, but did not get to the Mac',
      of(living, {
        machine: provisioned({ joinTokenID: 'tok222', joinTokenExpires: at(-30) }),
        node: { ...node, ready: 'Unknown' },
        join: { lease: { nodeName: 'mac-1', renewedAt: now - week - 1 }, identity: undefined },
      }),
      { kind: 're-register', newJoin: true },
    ],
    [
      'new credentials are on the Mac already',
      of(living, {
        machine: provisioned({ joinTokenID: 'tok111', joinTokenExpires: at(-30) }),
        node: { ...node, ready: 'Unknown' },
        join: { lease: { nodeName: 'mac-1', renewedAt: now - week - 1 }, identity: undefined },
      }),
      { kind: 'rest' },
    ],
  ]);
});

describe('how a Mac gets something new', () => {
  const cordoned = { ...node, cordonedByUs: true, unschedulable: true };
  const refused = provisioned({
    failedHostConfigHash: 'b',
    tartKubeletUpdateAttempts: 5,
    lastUpdateFailureTime: at(10),
  });
  check([
    ['nothing new', living, { kind: 'rest', drift: 'up to date', forMs: 300_000 }],
    ['no turn', of(drifting, { turn: undefined }), { kind: 'rest', drift: 'no turn' }],
    [
      'a turn for something else',
      of(drifting, { turn: { hash: 'c', rollBack: false } }),
      { kind: 'rest', drift: 'no turn' },
    ],
    ['a turn', drifting, { kind: 'roll', hash: 'b', idle: false }],
    ['a turn and Pods', of(drifting, { idle: false }), { kind: 'roll', idle: false }],
    [
      'idle, and nothing can come to it',
      of(drifting, { node: { ...node, unschedulable: true } }),
      { kind: 'roll', idle: true },
    ],
    [
      'cordoned by us, and Pods',
      of(drifting, { node: cordoned, idle: false }),
      { kind: 'rest', drift: 'waiting for idle' },
    ],
    ['cordoned by us, and idle', of(drifting, { node: cordoned }), { kind: 'roll', idle: true }],
    ['cordoned by us, and done', of(living, { node: cordoned }), { kind: 'uncordon' }],
    ['cordoned by us, without a turn', of(drifting, { node: cordoned, turn: undefined }), { kind: 'uncordon' }],
    ['cordoned by somebody else, and done', of(living, { node: { ...node, unschedulable: true } }), { kind: 'rest' }],
    ['no key', of(drifting, { fleetKey: { kind: 'pending' } }), { kind: 'rest', drift: 'no key' }],
    ['it did not answer a moment ago', of(drifting, { restMs: 5 }), { kind: 'rest', drift: 'pausing', forMs: 5 }],
    [
      'refused half a minute ago, but not for good',
      of(drifting, { machine: provisioned({ tartKubeletUpdateAttempts: 1, lastUpdateFailureTime: at(0.5) }) }),
      { kind: 'rest', drift: 'pausing', forMs: 30_000 },
    ],
    [
      'refused two minutes ago, but not for good',
      of(drifting, { machine: provisioned({ tartKubeletUpdateAttempts: 1, lastUpdateFailureTime: at(2) }) }),
      { kind: 'roll' },
    ],
    ['refused for good', of(drifting, { machine: refused }), { kind: 'rest', drift: 'refused' }],
    ['cordoned, and refused for good', of(drifting, { machine: refused, node: cordoned }), { kind: 'uncordon' }],
    [
      'refused for good half an hour ago',
      of(drifting, { machine: provisioned({ failedHostConfigHash: 'b', lastUpdateFailureTime: at(30) }) }),
      { kind: 'forgive', because: 'cooldown' },
    ],
    [
      'refused for good, nobody knows when',
      of(drifting, { machine: provisioned({ failedHostConfigHash: 'b' }) }),
      { kind: 'forgive', because: 'cooldown' },
    ],
    [
      'refused, and it is never tried again by itself',
      of(drifting, {
        machine: provisioned({ failedHostConfigHash: 'b', lastUpdateFailureTime: at(1e4) }),
        policy: { ...usual.policy, updateRetryAfterMs: undefined },
      }),
      { kind: 'rest', drift: 'refused' },
    ],
    [
      'refused something else',
      of(drifting, { machine: provisioned({ failedHostConfigHash: 'x', lastUpdateFailureTime: at(1) }) }),
      { kind: 'forgive', because: 'another hash' },
    ],
    [
      'pushed a moment ago, and the agent has not said so yet',
      of(drifting, { machine: provisioned({ hostConfigHash: 'b' }), restMs: 5 }),
      { kind: 'rest', drift: 'up to date' },
    ],
    [
      'pushed, but the agent does not start with it: for the fleet to judge',
      of(drifting, { machine: provisioned({ hostConfigHash: 'b' }), node: { ...node, ready: 'Unknown' } }),
      { kind: 'rest', drift: 'up to date' },
    ],
    [
      'pushed long ago, and the agent says otherwise',
      of(drifting, { machine: provisioned({ hostConfigHash: 'b' }) }),
      { kind: 'roll' },
    ],
    ['to be rolled back', of(drifting, { turn: { hash: 'b', rollBack: true } }), { kind: 'roll back', hash: 'b' }],
    [
      'to be rolled back, whatever is wanted now',
      of(living, { turn: { hash: 'b', rollBack: true } }),
      { kind: 'roll back', hash: 'b' },
    ],
    [
      'rolled back already',
      of(drifting, { machine: refused, turn: { hash: 'b', rollBack: true } }),
      { kind: 'rest', drift: 'refused' },
    ],
    [
      'to be rolled back, but it did not answer',
      of(drifting, { turn: { hash: 'b', rollBack: true }, restMs: 3 }),
      { kind: 'rest', forMs: 3 },
    ],
    [
      'not known what it shall have',
      of(living, { desired: { kind: 'problem', message: '' } }),
      { kind: 'rest', drift: 'no plan' },
    ],
  ]);
});

describe('how a machine goes', () => {
  check([
    ['not ours to hold', deletingOf({ machine: machineWith({}, { deleting: true, held: false }) }), { kind: 'leave' }],
    ['no Mac', deletingOf({ host: { kind: 'none' } }), { kind: 'clean up', because: 'no host' }],
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
    ['GitHub is silent', deletingOf({ runner: silent(599_999) }), { kind: 'await runner' }],
    ['GitHub is silent for long', deletingOf({ runner: silent(600_000) }), { kind: 'release' }],
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
    ['its Mac, while paused', deletingOf({ cluster: { pauses: ['x'], waitsFor: 'y' } }), { kind: 'pause', why: 'x' }],
    [
      'the pool that the Mac came from wins',
      deletingOf({ host: { ...host, poolPrefix: 'other-pool-' } }),
      { kind: 'release', poolPrefix: 'other-pool-' },
    ],
    [
      'nobody knows a pool',
      deletingOf({
        machine: provisioned({}, { deleting: true, poolPrefix: undefined }),
        host: { ...host, poolPrefix: undefined },
      }),
      { kind: 'clean up', because: 'skipped' },
    ],
    [
      'on its way back, disk untouched',
      deletingOf({ host: { ...host, holder: 'nobody', release: { begun: false, stuck: false } } }),
      { kind: 'await wipe' },
    ],
    [
      'on its way back, disk erased',
      deletingOf({ host: { ...host, holder: 'nobody', release: { begun: true, stuck: false } } }),
      { kind: 'clean up', because: 'released' },
    ],
    [
      'Scaleway does not wipe it',
      deletingOf({ host: { ...host, holder: 'nobody', release: { begun: false, stuck: true } } }),
      { kind: 'clean up', because: 'not wiped' },
    ],
    [
      'a person has abandoned it',
      deletingOf({ host: { ...host, abandoned: true } }),
      { kind: 'clean up', because: 'abandoned' },
    ],
    [
      'abandoned on its way back',
      deletingOf({ host: { ...host, holder: 'nobody', release: { begun: false, stuck: false }, abandoned: true } }),
      { kind: 'clean up', because: 'abandoned' },
    ],
    [
      'abandoned, with a runner that has a job',
      deletingOf({ host: { ...host, abandoned: true }, runner: { kind: 'there', id: 7, isBusy: true } }),
      {
        kind: 'clean up',
        because: 'abandoned',
        runnerLeft: 'Its runner may still be on the list at GitHub: remove it there.',
      },
    ],
    [
      'abandoned, with a runner that has none',
      deletingOf({ host: { ...host, abandoned: true }, runner: { kind: 'there', id: 7, isBusy: false } }),
      { kind: 'remove runner', id: 7 },
    ],
    ['in the pool again', deletingOf({ host: { ...host, holder: 'nobody', inPool: true } }), { kind: 'clean up' }],
    ['somebody else’s by now', deletingOf({ host: { ...host, holder: 'other' } }), { kind: 'clean up' }],
    ['gone', deletingOf({ host: { ...host, gone: true } }), { kind: 'clean up', because: 'host gone' }],
    [
      'no MacHost, and nobody knows',
      deletingOf({ host: { kind: 'absent', server: 'unknown', message: '' } }),
      { kind: 'await wipe' },
    ],
    [
      'no MacHost and no server',
      deletingOf({ host: { kind: 'absent', server: 'gone', message: '' } }),
      { kind: 'clean up', because: 'host gone' },
    ],
  ]);
});

describe('who gets neither a Mac nor an identity', () => {
  const refusal = { reason: 'NotInCluster', message: 'm' } as const;
  const outside = { pauses: [], refusal, waitsFor: undefined };
  const foreign = { kind: 'foreign', providerID: 'aws://x' } as const;
  check([
    ['a machine that may have none', of(hostless, { cluster: outside }), { kind: 'refuse', reason: 'NotAllowed' }],
    [
      'the same without a finalizer: it gets none',
      of(hostless, { cluster: outside, machine: machineWith({ serverID: '' }, { held: false }) }),
      { kind: 'refuse', reason: 'NotAllowed', message: 'm' },
    ],
    [
      'the same with a Mac that was never made ready',
      of(usual, { cluster: outside }),
      { kind: 'refuse', reason: 'NotAllowed' },
    ],
    ['one that was made ready lives on', of(drifting, { cluster: outside }), { kind: 'roll' }],
    ['one that is deleted gives its Mac back', deletingOf({ cluster: outside }), { kind: 'release' }],
    [
      'one that is deleted before it was made ready too',
      of(usual, { cluster: outside, machine: machineWith({}, { deleting: true }) }),
      { kind: 'release' },
    ],
    ['another Node has its name', of(hostless, { node: foreign }), { kind: 'refuse', reason: 'NodeNameTaken' }],
    [
      'another Node has its name since its Mac was reserved',
      of(usual, { node: foreign }),
      { kind: 'refuse', reason: 'NodeNameTaken' },
    ],
    [
      'the same after many failures: its Mac is not given back, as nothing is known of what runs there',
      of(usual, { node: foreign, machine: machineWith({ bootstrapAttempts: 99 }) }),
      { kind: 'refuse', reason: 'NodeNameTaken' },
    ],
    [
      'another Node has its name, and its Mac is lost',
      of(usual, { node: foreign, host: { ...host, holder: 'other' } }),
      { kind: 'let go' },
    ],
    ['its own Node', of(hostless, { node }), { kind: 'reserve' }],
  ]);

  it('says what to do about a Node without a providerID', () => {
    const decision = decide(of(usual, { node: { kind: 'foreign', providerID: '' } }));
    assert.ok(decision.kind === 'refuse');
    assert.match(decision.message, /not at the address .* set its spec\.providerID to scw-applesilicon:\/\//);
  });
});
