import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conditionsByKind, type MacHostSpec, type MacHostStatus } from '@tartan/api';
import { type ConditionUpdate, setConditions } from '@tartan/kube';
import fc from 'fast-check';
import { decide, type Decision } from './decide.ts';
import {
  defaultLimits,
  type Quarantine,
  type Release,
  type ServerFacts,
  type ServerView,
  type Snapshot,
  stateOf,
} from './snapshot.ts';
import { conditionsOf } from './status.ts';

const now = Date.parse('2026-01-01T12:00:00Z');
const minute = 60_000;
const at = (milliseconds: number): string => new Date(now + milliseconds).toISOString();

const mac: ServerFacts = {
  name: 'tuist-pool-1',
  type: 'M2-L',
  status: 'ready',
  os: { name: 'macos-tahoe-26.3', family: 'Tahoe' },
  ip: '198.18.0.1',
};
const seen = (more: Partial<ServerFacts> = {}, { fresh = true, ageMs = 0 } = {}): ServerView => ({
  kind: 'seen',
  server: { ...mac, ...more },
  at: now - ageMs,
  fresh,
});
const listed = (more: Partial<ServerFacts> = {}, ageMs = 0) => seen(more, { fresh: false, ageMs });

const consumerRef = { apiVersion: 'g/v1', kind: 'K', namespace: 'fleet', name: 'mac-1', uid: 'u' };
const release: Release = {
  poolPrefix: 'tuist-pool-',
  family: 'tahoe',
  reason: 'MachineDeleted',
  requestedAt: at(-60 * minute),
};
const releasing = { name: 'tuist-releasing-tuist-pool-00000001' };
const alive = { kind: 'alive', type: 'M2-L', provisioned: false, fresh: true } as const;
const atWork = { ...alive, provisioned: true } as const;

type Facts = Partial<Omit<Snapshot, 'spec'>> & { spec?: Partial<MacHostSpec> };
const snapshotOf = ({ spec, ...facts }: Facts): Snapshot => ({
  id: 'server-1',
  status: {},
  server: seen(),
  holder: { kind: 'none' },
  claimants: [],
  poolPrefixes: new Set(['tuist-pool-']),
  abandoned: undefined,
  schedulableNodes: [],
  otherOS: undefined,
  pauses: [],
  suffix: 'abcdef01',
  now,
  limits: defaultLimits,
  ...facts,
  spec: { zone: 'fr-par-1', ...spec },
});

const held = (facts: Facts = {}): Facts => ({
  holder: alive,
  ...facts,
  spec: { consumerRef, poolPrefix: 'tuist-pool-', ...facts.spec },
});
const settled: MacHostStatus = { claim: { uid: 'u', namedAt: at(-minute), settledAt: at(-minute / 2) } };
const mine = { name: 'mac-1' };
const back = (facts: Facts = {}, more: Partial<Release> = {}): Facts => ({
  server: seen(releasing),
  ...facts,
  spec: { release: { ...release, ...more }, ...facts.spec },
});
const wipe = (more: MacHostStatus['wipe'] = {}): MacHostStatus => ({
  state: 'releasing',
  wipe: { attempts: 1, requestedAt: at(-minute), ...more },
});
const begun = wipe({ requestedAt: at(-30 * minute), reinstallingAt: at(-30 * minute) });

/** The part of a decision that a row is about. */
const summarize = (decision: Decision): string => {
  switch (decision.kind) {
    case 'give up':
      return `give up ${decision.name}`;
    case 'record name':
      return decision.claim.settledAt === undefined ? 'record name' : 'settle';
    case 'rename':
      return `rename to ${decision.to}`;
    case 'request wipe':
      return `request wipe ${decision.wipe.attempts}${decision.quarantine ? ' and quarantine' : ''}`;
    case 'reinstall':
      return `reinstall with ${decision.family}`;
    case 'cordon':
      return `cordon ${decision.nodes.join()}`;
    case 'report':
      return decision.againMs === undefined ? 'report' : `report, again in ${decision.againMs / 1000} s`;
    case 'read server':
    case 'read holder':
    case 'delete':
    case 'record wipe start':
    case 'record wipe end':
    case 'quarantine':
    case 'return to pool':
    case 'reboot':
      return decision.kind;
  }
};

const table: [string, Facts, string][] = [
  // Unknown.
  ['not listed, and nothing to do', { server: { kind: 'unknown', why: 'x' } }, 'report, again in 10 s'],
  ['not listed, to be released', back({ server: { kind: 'unknown', why: 'x' } }), 'read server'],
  ['not listed, to be renamed', held({ server: { kind: 'unknown', why: 'x' } }), 'read server'],
  [
    'not listed, held and named',
    held({ server: { kind: 'unknown', why: 'x' }, status: { ...settled, name: 'mac-1' } }),
    'report, again in 10 s',
  ],
  [
    'not listed, held and named, not settled',
    held({ server: { kind: 'unknown', why: 'x' }, status: { name: 'mac-1' } }),
    'read server',
  ],
  [
    'not listed, held under another name',
    held({ server: { kind: 'unknown', why: 'x' }, status: { ...settled, name: 'x' } }),
    'read server',
  ],
  // Gone.
  ['not in the list', { server: { kind: 'missing', fresh: false } }, 'read server'],
  ['gone without a holder', { server: { kind: 'missing', fresh: true } }, 'delete'],
  ['gone, being released', back({ server: { kind: 'missing', fresh: true } }), 'delete'],
  ['gone, held', held({ server: { kind: 'missing', fresh: true } }), 'report, again in 300 s'],
  [
    'gone, holder not seen',
    held({ server: { kind: 'missing', fresh: true }, holder: { kind: 'unseen' } }),
    'read holder',
  ],
  [
    'gone, and so is its holder',
    held({ server: { kind: 'missing', fresh: true }, holder: { kind: 'gone' } }),
    'delete',
  ],
  [
    'gone, and its holder has another one',
    held({ server: { kind: 'missing', fresh: true }, holder: { kind: 'elsewhere', serverID: 'x' } }),
    'delete',
  ],
  // Held.
  ['held, holder not looked for', held({ holder: { kind: 'none' } }), 'read holder'],
  ['held, pool name in the list', held({ server: listed() }), 'read server'],
  ['held, pool name', held(), 'rename to mac-1'],
  ['held, pool name, rebooting', held({ server: seen({ status: 'rebooting' }) }), 'report, again in 10 s'],
  ['held, pool name, other type', held({ server: seen({ type: 'M4-M' }) }), 'report, again in 10 s'],
  ['held, name of another pool', held({ server: seen({ name: 'other-pool-1' }) }), 'give up other-pool-1'],
  ['held, pool name, and no pool is recorded', held({ spec: { poolPrefix: '' } }), 'give up tuist-pool-1'],
  ["held, another machine's name in the list", held({ server: listed({ name: 'theirs' }) }), 'read server'],
  ["held, another machine's name", held({ server: seen({ name: 'theirs' }) }), 'give up theirs'],
  [
    "held, another machine's name, rebooting",
    held({ server: seen({ name: 'theirs', status: 'rebooting' }) }),
    'give up theirs',
  ],
  ['held, a releasing name', held({ server: seen(releasing) }), `give up ${releasing.name}`],
  [
    "held, another machine's name, its own machine as the cache has it",
    held({ server: seen({ name: 'theirs' }), holder: { ...alive, fresh: false } }),
    'read holder',
  ],
  [
    'settled, then renamed before it was bootstrapped',
    held({ server: seen({ name: 'theirs' }), status: settled }),
    'give up theirs',
  ],
  ['at work, renamed by a person', held({ server: seen({ name: 'x' }), holder: atWork }), 'rename to mac-1'],
  ['at work, renamed, as the list says', held({ server: listed({ name: 'x' }), holder: atWork }), 'read server'],
  ['at work, name right', held({ server: listed(mine), holder: atWork }), 'report'],
  ['held, name right for the first time', held({ server: listed(mine) }), 'record name'],
  [
    'held, name right, noted for another machine',
    held({ server: listed(mine), status: { claim: { uid: 'x', namedAt: at(-minute), settledAt: at(0) } } }),
    'record name',
  ],
  [
    'held, name right for a moment',
    held({ server: seen(mine), status: { claim: { uid: 'u', namedAt: at(-5000) } } }),
    'report, again in 16 s',
  ],
  [
    'held, name right since a time to come',
    held({ server: seen(mine), status: { claim: { uid: 'u', namedAt: at(60 * minute) } } }),
    'report, again in 21 s',
  ],
  [
    'held, name right for long enough, as the list says',
    held({ server: listed(mine), status: { claim: { uid: 'u', namedAt: at(-minute) } } }),
    'read server',
  ],
  [
    'held, name right for long enough',
    held({ server: seen(mine), status: { claim: { uid: 'u', namedAt: at(-minute) } } }),
    'settle',
  ],
  [
    'held, name right for just long enough',
    held({ server: seen(mine), status: { claim: { uid: 'u', namedAt: at(-21_000) } } }),
    'settle',
  ],
  ['held, name right, settled', held({ server: listed(mine), status: settled }), 'report'],
  ['held, holder not seen', held({ holder: { kind: 'unseen' } }), 'read holder'],
  ['held, holder gone', held({ holder: { kind: 'gone' } }), 'report, again in 300 s'],
  ['held, holder elsewhere', held({ holder: { kind: 'elsewhere', serverID: 'x' } }), 'report, again in 300 s'],
  ['held by something else', held({ holder: { kind: 'unknown' } }), 'report'],
  [
    'restart asked for, seen in a list',
    held({ server: listed(mine), status: settled, spec: { reboot: { requestedAt: at(0) } } }),
    'read server',
  ],
  [
    'restart asked for',
    held({ server: seen(mine), status: settled, spec: { reboot: { requestedAt: at(0) } } }),
    'reboot',
  ],
  [
    'restart asked for again',
    held({
      server: seen({ name: 'mac-1' }),
      spec: { reboot: { requestedAt: at(0) } },
      status: { ...settled, rebootIssuedAt: at(-1) },
    }),
    'reboot',
  ],
  [
    'restarted',
    held({
      server: seen({ name: 'mac-1' }),
      spec: { reboot: { requestedAt: at(0) } },
      status: { ...settled, rebootIssuedAt: at(0) },
    }),
    'report',
  ],
  [
    'restart asked for by a holder that is gone',
    held({ holder: { kind: 'gone' }, spec: { reboot: { requestedAt: at(0) } } }),
    'report, again in 300 s',
  ],
  // Being released.
  ['release, name in the list', back({ server: listed({ name: 'mac-1' }) }), 'read server'],
  [
    'release, name of its holder',
    back({ server: seen({ name: 'mac-1' }) }),
    'rename to tuist-releasing-tuist-pool-abcdef01',
  ],
  [
    'release, the name that it goes back from',
    back({ server: seen(mine) }, { serverName: 'mac-1' }),
    'rename to tuist-releasing-tuist-pool-abcdef01',
  ],
  [
    'release, name of its holder, a minute ago',
    back({ server: seen(mine) }, { requestedAt: at(-minute) }),
    'rename to tuist-releasing-tuist-pool-abcdef01',
  ],
  ['release, the releasing name', back({}, { serverName: 'mac-1' }), 'request wipe 1'],
  [
    "release, another machine's name",
    back({ server: seen({ name: 'theirs' }) }, { serverName: 'mac-1' }),
    'give up theirs',
  ],
  [
    "release, another machine's name in the list",
    back({ server: listed({ name: 'theirs' }) }, { serverName: 'mac-1' }),
    'read server',
  ],
  [
    'release, being released to a pool of another cluster',
    back({ server: seen({ name: 'tuist-releasing-their-pool-00000001' }) }, { serverName: 'mac-1' }),
    'give up tuist-releasing-their-pool-00000001',
  ],
  [
    "wiped, and another machine's name",
    back(
      { server: seen({ name: 'theirs' }), status: { wipe: { ...begun.wipe, readyAt: at(0) } } },
      { serverName: 'mac-1' },
    ),
    'give up theirs',
  ],
  [
    'release, pool name and not wiped, claimed by mac-1 once',
    back({ server: seen() }, { serverName: 'mac-1' }),
    'rename to tuist-releasing-tuist-pool-abcdef01',
  ],
  [
    'not wiped, found a moment ago: another cluster may hold it',
    back({ server: seen(mine) }, { serverName: 'mac-1', reason: 'NotWiped', requestedAt: at(-minute) }),
    'report, again in 120 s',
  ],
  [
    'not wiped, and its name has stood',
    back({ server: seen(mine) }, { serverName: 'mac-1', reason: 'NotWiped', requestedAt: at(-3 * minute) }),
    'rename to tuist-releasing-tuist-pool-abcdef01',
  ],
  ['release, pool name and not wiped', back({ server: seen() }), 'rename to tuist-releasing-tuist-pool-abcdef01'],
  [
    'release to another pool than its name says',
    back({}, { poolPrefix: 'other-' }),
    'rename to tuist-releasing-other-abcdef01',
  ],
  ['releasing name', back(), 'request wipe 1'],
  ['releasing name in the list', back({ server: listed(releasing) }), 'read server'],
  ['it failed its bootstraps', back({}, { reason: 'BootstrapExhausted' }), 'request wipe 1 and quarantine'],
  ['it was not wiped', back({}, { reason: 'NotWiped' }), 'request wipe 1 and quarantine'],
  ['broken already', back({ server: seen({ ...releasing, status: 'error' }) }), 'request wipe 1'],
  ...['starting', 'rebooting', 'updating', 'locking', 'unlocking', 'busy'].map((status): [string, Facts, string] => [
    `busy, ${status}`,
    back({ server: seen({ ...releasing, status }) }, { requestedAt: at(-59 * minute) }),
    'report, again in 10 s',
  ]),
  [
    'reinstalled by somebody else',
    back({ server: seen({ ...releasing, status: 'reinstalling' }) }, { requestedAt: at(-59 * minute) }),
    'report, again in 10 s',
  ],
  ['asked for', back({ status: wipe() }), 'report, again in 10 s'],
  ['asked for, seen in a list', back({ status: wipe(), server: listed(releasing, 4000) }), 'report, again in 6 s'],
  ['asked for, seen in a list of now', back({ status: wipe(), server: listed(releasing) }), 'report, again in 10 s'],
  [
    'asked for, seen in a list of a time to come',
    back({ status: wipe(), server: listed(releasing, -1) }),
    'read server',
  ],
  ['asked for, seen in an old list', back({ status: wipe(), server: listed(releasing, 10_000) }), 'read server'],
  [
    'asked for, the list says reinstalling',
    back({ status: wipe(), server: listed({ ...releasing, status: 'reinstalling' }) }),
    'read server',
  ],
  [
    'asked for, and reinstalling',
    back({ status: wipe(), server: seen({ ...releasing, status: 'reinstalling' }) }),
    'record wipe start',
  ],
  ['asked for and not seen', back({ status: wipe({ requestedAt: at(-2 * minute) }) }), 'request wipe 2'],
  [
    'asked for again and not seen',
    back({ status: wipe({ attempts: 2, requestedAt: at(-2 * minute) }) }),
    'report, again in 120 s',
  ],
  [
    'asked for, not seen, and rebooting',
    back(
      { status: wipe({ requestedAt: at(-2 * minute) }), server: seen({ ...releasing, status: 'rebooting' }) },
      { requestedAt: at(-9 * minute) },
    ),
    'report, again in 10 s',
  ],
  ['not seen for the third time', back({ status: wipe({ attempts: 3, requestedAt: at(-60 * minute) }) }), 'quarantine'],
  [
    'not seen for the third time, within an hour of the release',
    back({ status: wipe({ attempts: 3, requestedAt: at(-20 * minute) }) }, { requestedAt: at(-40 * minute) }),
    'request wipe 4',
  ],
  [
    'not seen for the third time, and said so',
    back({ status: wipe({ attempts: 3, requestedAt: at(-60 * minute), stuckAt: at(-50 * minute) }) }),
    'report, again in 300 s',
  ],
  [
    'stuck, and two hours have passed',
    back(
      { status: wipe({ attempts: 7, requestedAt: at(-120 * minute), stuckAt: at(-500 * minute) }) },
      { requestedAt: at(-600 * minute) },
    ),
    'request wipe 8',
  ],
  ['refused', back({ status: wipe({ refusedAt: at(-minute) }) }), 'report, again in 60 s'],
  [
    'refused, in an old list: no live read',
    back({ status: wipe({ refusedAt: at(-minute) }), server: listed(releasing, 30_000) }),
    'report, again in 60 s',
  ],
  ['refused a while ago', back({ status: wipe({ refusedAt: at(-2 * minute) }) }), 'request wipe 2'],
  [
    'refused for the third time, an hour after the release',
    back({ status: wipe({ attempts: 3, requestedAt: at(-minute), refusedAt: at(-minute) }) }),
    'quarantine',
  ],
  [
    'refused for the third time, an hour after the release, seen in a list',
    back({
      status: wipe({ attempts: 3, requestedAt: at(-minute), refusedAt: at(-minute) }),
      server: listed(releasing),
    }),
    'read server',
  ],
  [
    'refused, and somebody else has it reinstalled',
    back({ status: wipe({ refusedAt: at(-minute) }), server: seen({ ...releasing, status: 'reinstalling' }) }),
    'record wipe start',
  ],
  [
    'the releasing name was refused',
    back({ status: wipe({ refusedAt: at(-minute) }), server: seen({ name: 'mac-1' }) }),
    'report, again in 60 s',
  ],
  [
    'the releasing name was refused a while ago',
    back({ status: wipe({ refusedAt: at(-2 * minute) }), server: seen({ name: 'mac-1' }) }),
    'rename to tuist-releasing-tuist-pool-abcdef01',
  ],
  [
    'the releasing name was refused, and the list has a pool name',
    back({ status: wipe({ refusedAt: at(-minute) }), server: listed() }),
    'report, again in 60 s',
  ],
  [
    'the releasing name was refused for the third time, a while ago',
    back({ status: wipe({ attempts: 3, refusedAt: at(-20 * minute) }), server: seen({ name: 'mac-1' }) }),
    'rename to tuist-releasing-tuist-pool-abcdef01',
  ],
  [
    'the releasing name was refused for the third time, an hour after the release',
    back({ status: wipe({ attempts: 3, refusedAt: at(-minute) }), server: seen({ name: 'mac-1' }) }),
    'quarantine',
  ],
  [
    'busy for an hour',
    back({ server: seen({ ...releasing, status: 'updating' }) }, { requestedAt: at(-60 * minute) }),
    'quarantine',
  ],
  [
    'busy for an hour, seen in a list',
    back({ server: listed({ ...releasing, status: 'updating' }) }, { requestedAt: at(-60 * minute) }),
    'read server',
  ],
  [
    'busy for long, and said so',
    back({
      status: wipe({ attempts: 0, stuckAt: at(-minute) }),
      server: seen({ ...releasing, status: 'updating' }),
    }),
    'report, again in 300 s',
  ],
  [
    'was busy for long, and is no more',
    back({ status: wipe({ attempts: 0, stuckAt: at(-minute) }) }),
    'request wipe 1',
  ],
  [
    'a wipe of an earlier release',
    back({ status: wipe({ requestedAt: at(-61 * minute), readyAt: at(0) }) }),
    'request wipe 1',
  ],
  ['begun', back({ status: begun, server: seen({ ...releasing, status: 'reinstalling' }) }), 'report, again in 10 s'],
  ['begun, the list says ready', back({ status: begun, server: listed(releasing) }), 'read server'],
  ['begun and ready', back({ status: begun }), 'record wipe end'],
  [
    'begun, and rebooting',
    back({ status: begun, server: seen({ ...releasing, status: 'rebooting' }) }),
    'report, again in 10 s',
  ],
  ['failed a while ago', back({ status: begun, server: seen({ ...releasing, status: 'error' }) }), 'request wipe 2'],
  [
    'failed a while ago, as the list says',
    back({ status: begun, server: listed({ ...releasing, status: 'error' }) }),
    'read server',
  ],
  [
    'just failed',
    back({
      status: wipe({ requestedAt: at(-11 * minute), reinstallingAt: at(-11 * minute) }),
      server: seen({ ...releasing, status: 'error' }),
    }),
    'report, again in 240 s',
  ],
  [
    'just failed for the third time',
    back({
      status: wipe({ attempts: 3, requestedAt: at(-11 * minute), reinstallingAt: at(-11 * minute) }),
      server: seen({ ...releasing, status: 'error' }),
    }),
    'quarantine',
  ],
  [
    'reinstalling for an hour',
    back({
      status: wipe({ requestedAt: at(-60 * minute), reinstallingAt: at(-60 * minute) }),
      server: seen({ ...releasing, status: 'reinstalling' }),
    }),
    'quarantine',
  ],
  ['wiped', back({ status: wipe({ readyAt: at(0) }) }), 'rename to tuist-pool-00000001'],
  [
    'wiped, and the pool name was refused',
    back({ status: wipe({ readyAt: at(0), refusedAt: at(-minute) }) }),
    'report, again in 60 s',
  ],
  [
    'wiped, and the pool name was refused, but the list has it',
    back({ status: wipe({ readyAt: at(0), refusedAt: at(-minute) }), server: listed() }),
    'read server',
  ],
  ['wiped, seen in a list', back({ status: wipe({ readyAt: at(0) }), server: listed() }), 'read server'],
  [
    'wiped, renamed by a person',
    back({ status: wipe({ readyAt: at(0) }), server: seen({ name: 'x' }) }),
    'rename to tuist-pool-abcdef01',
  ],
  ['wiped, with its pool name', back({ status: wipe({ readyAt: at(0) }), server: seen() }), 'return to pool'],
  [
    'wiped, in a pool whose prefix begins the releasing name too',
    back(
      { status: wipe({ readyAt: at(0) }), server: seen({ name: 'tuist-releasing-tuist-00000001' }) },
      { poolPrefix: 'tuist-' },
    ),
    'rename to tuist-00000001',
  ],
  // Abandoned by a user, in any other state.
  ['abandoned in the pool', { abandoned: 'x' }, 'report'],
  [
    'abandoned in the pool, while another macOS is wanted',
    { abandoned: 'x', otherOS: { family: 'b', inMs: 0 } },
    'report',
  ],
  ['abandoned and not listed', back({ abandoned: 'x', server: { kind: 'unknown', why: 'x' } }), 'report'],
  ['abandoned being released', back({ abandoned: 'x' }), 'report'],
  ['abandoned before the releasing name', back({ abandoned: 'x', server: seen({ name: 'mac-1' }) }), 'report'],
  ['abandoned while it is held, with another name', held({ abandoned: 'x' }), 'report'],
  [
    'abandoned, restart asked for',
    held({ abandoned: 'x', server: seen({ name: 'mac-1' }), spec: { reboot: { requestedAt: at(0) } } }),
    'report',
  ],
  ['abandoned, not in the list', { abandoned: 'x', server: { kind: 'missing', fresh: false } }, 'read server'],
  ['abandoned and gone', { abandoned: 'x', server: { kind: 'missing', fresh: true } }, 'delete'],
  ['abandoned, its Node takes Pods', { abandoned: 'x', schedulableNodes: ['mac-1'] }, 'cordon mac-1'],
  [
    'abandoned, its Node takes Pods for a machine that lives',
    held({ abandoned: 'x', schedulableNodes: ['mac-1'] }),
    'report',
  ],
  [
    'abandoned, its Node takes Pods, machine not seen',
    held({ abandoned: 'x', schedulableNodes: ['mac-1'], holder: { kind: 'unseen' } }),
    'read holder',
  ],
  ...(
    [
      [{ kind: 'gone' }, 'cordon mac-1'],
      [{ kind: 'elsewhere', serverID: 'x' }, 'cordon mac-1'],
      [{ kind: 'unknown' }, 'report'],
    ] as const
  ).map(([holder, expected]): [string, Facts, string] => [
    `abandoned, its Node takes Pods, machine ${holder.kind}`,
    held({ abandoned: 'x', schedulableNodes: ['mac-1'], holder }),
    expected,
  ]),
  ['being released, and its Node takes Pods', back({ schedulableNodes: ['mac-1'] }), 'request wipe 1'],
  [
    'stuck, and its Node takes Pods',
    back({ schedulableNodes: ['mac-1'], status: wipe({ stuckAt: at(-minute) }) }),
    'cordon mac-1',
  ],
  // Paused.
  ['paused, releasing name', back({ pauses: ['x'] }), 'report, again in 300 s'],
  ['paused, not listed, to be released', back({ pauses: ['x'], server: { kind: 'unknown', why: 'x' } }), 'read server'],
  ['paused, holder not seen', held({ pauses: ['x'], holder: { kind: 'unseen' } }), 'read holder'],
  [
    'paused, asked for, and reinstalling',
    back({ pauses: ['x'], status: wipe(), server: seen({ ...releasing, status: 'reinstalling' }) }),
    'record wipe start',
  ],
  ['paused, begun and ready', back({ pauses: ['x'], status: begun }), 'record wipe end'],
  ['paused, in the pool', { pauses: ['x'] }, 'report'],
  // Without a holder.
  ['free, and a machine looks for others now', { otherOS: { family: undefined, inMs: 0 } }, 'report, again in 0 s'],
  ['free, and machines look for others', { otherOS: { family: undefined, inMs: 300_000 } }, 'report, again in 300 s'],
  ['free, another macOS is wanted soon', { otherOS: { family: 'sequoia', inMs: 20_000 } }, 'report, again in 20 s'],
  [
    'free in a list, another macOS is wanted',
    { server: listed(), otherOS: { family: 'sequoia', inMs: 0 } },
    'read server',
  ],
  ['free, another macOS is wanted', { otherOS: { family: 'sequoia', inMs: 0 } }, 'reinstall with sequoia'],
  [
    'free but restarting, another macOS is wanted',
    { server: seen({ status: 'rebooting' }), otherOS: { family: 'sequoia', inMs: 0 } },
    'report',
  ],
  [
    'in quarantine, another macOS is wanted',
    {
      status: { quarantine: { count: 1, reason: 'x', until: at(minute) } },
      otherOS: { family: 'sequoia', inMs: 0 },
    },
    'report, again in 60 s',
  ],
  ['in the pool', {}, 'report'],
  ['in quarantine', { status: { quarantine: { count: 1, reason: 'x', until: at(minute) } } }, 'report, again in 60 s'],
  [
    'in a long quarantine',
    { status: { quarantine: { count: 1, reason: 'x', until: at(9e9) } } },
    'report, again in 3600 s',
  ],
  [
    'in a quarantine without a valid end, another macOS is wanted',
    { status: { quarantine: { count: 1, reason: 'x', until: 'never' } }, otherOS: { family: 'sequoia', inMs: 0 } },
    'report, again in 3600 s',
  ],
  ['stranded', { server: seen({ name: 'x' }) }, 'report, again in 300 s'],
];

describe('decide, for a MacHost', () => {
  for (const [name, facts, expected] of table)
    it(`${name}: ${expected}`, () => {
      assert.equal(summarize(decide(snapshotOf(facts))), expected);
    });

  it('a rename has a reason', () => {
    const why = (facts: Facts): unknown => (decide(snapshotOf(facts)) as { why?: string }).why;
    assert.equal(why(held()), 'held');
    assert.equal(why(back({ server: seen(mine) })), 'releasing');
    assert.equal(why(back({ status: wipe({ readyAt: at(0) }) })), 'wiped');
  });

  it('a claim name is recorded with its machine and the time', () => {
    const namedAt = '2026-01-01T12:00:00Z';
    const first = decide(snapshotOf(held({ server: listed(mine) })));
    assert.deepEqual(first, { kind: 'record name', claim: { uid: 'u', namedAt } });
    const status = { claim: { uid: 'u', namedAt: at(-minute) } };
    const settling = decide(snapshotOf(held({ server: seen(mine), status })));
    assert.deepEqual(settling, { kind: 'record name', claim: { ...status.claim, settledAt: namedAt } });
  });

  it('a reinstall is for the longest pool prefix of its name', () => {
    const poolPrefixes = new Set(['tuist-', 'tuist-pool-', 'another-long-pool-']);
    const decision = decide(snapshotOf({ poolPrefixes, otherOS: { family: 'sequoia', inMs: 0 } }));
    assert.deepEqual(decision, { kind: 'reinstall', family: 'sequoia', poolPrefix: 'tuist-pool-' });
  });

  it('a wipe is never older than its release, whichever clock set that time', () => {
    for (const ahead of [-400, 0, 50, 700, 5000]) {
      const requestedAt = new Date(now + ahead).toISOString();
      const decision = decide(snapshotOf({ ...back({}, { requestedAt }), now: now + 100 }));
      assert.ok(decision.kind === 'request wipe');
      assert.ok(Date.parse(decision.wipe.requestedAt ?? '') >= Date.parse(requestedAt));
    }
  });

  it('a quarantine lasts a day longer each time, and at most a week', () => {
    const days = (count: number): number => {
      const status = { quarantine: { count, reason: 'x', until: at(-1) } };
      const decision = decide(snapshotOf(back({ status }, { reason: 'NotWiped' })));
      assert.ok(decision.kind === 'request wipe' && decision.quarantine);
      return (Date.parse(decision.quarantine.until) - now) / (24 * 60 * minute);
    };
    assert.deepEqual([0, 1, 6, 7, 100].map(days), [1, 2, 7, 7, 7]);
  });
});

const times = fc.option(
  fc.constantFrom(at(-100 * minute), at(-30 * minute), at(-minute), at(0), at(minute), 'no time'),
  { nil: undefined },
);
const given = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;

const anySnapshot: fc.Arbitrary<Snapshot> = fc
  .record({
    wants: fc.constantFrom('holder', 'release', 'neither'),
    reason: fc.constantFrom('MachineDeleted', 'BootstrapExhausted', 'NotWiped', 'Stranded', 'Requested'),
    prefix: fc.constantFrom('tuist-pool-', 'tuist-', 'x'),
    requestedAt: times,
    rebootAt: times,
    wipe: fc.option(
      fc.record({
        attempts: fc.option(fc.nat(5), { nil: undefined }),
        requestedAt: times,
        reinstallingAt: times,
        readyAt: times,
        refusedAt: times,
        stuckAt: times,
      }),
      { nil: undefined },
    ),
    until: times,
    rebootIssuedAt: times,
    state: fc.option(fc.constantFrom('pool', 'held', 'releasing', 'quarantined', 'stranded'), { nil: undefined }),
    view: fc.constantFrom('seen', 'missing', 'unknown'),
    fresh: fc.boolean(),
    age: fc.constantFrom(-1, 0, 9999, 10_000),
    serverName: fc.constantFrom(undefined, 'mac-1', 'theirs'),
    claim: fc.option(
      fc.record({
        uid: fc.constantFrom('u', 'x'),
        namedAt: fc.constantFrom('never', at(0), at(-60 * minute), at(60 * minute)),
        settledAt: fc.option(fc.constant(at(0)), { nil: undefined }),
      }),
      { nil: undefined },
    ),
    poolPrefix: fc.constantFrom(undefined, '', 'tuist-pool-', 'other-'),
    name: fc.constantFrom(
      'mac-1',
      'theirs',
      'tuist-pool-1',
      releasing.name,
      'tuist-releasing-x',
      'tuist-claim-pending-1',
      '',
    ),
    status: fc.constantFrom('ready', 'reinstalling', 'rebooting', 'error', 'locked', 'busy', 'what is this'),
    type: fc.constantFrom('M2-L', 'M4-M'),
    holder: fc.constantFrom(
      { kind: 'none' },
      alive,
      { ...alive, fresh: false },
      atWork,
      { kind: 'unseen' },
      { kind: 'gone' },
      { kind: 'elsewhere', serverID: 'x' },
      { kind: 'unknown' },
    ),
    pauses: fc.array(fc.constant('x'), { maxLength: 1 }),
    claimant: fc.option(fc.constantFrom('name', 'serverID'), { nil: undefined }),
    abandoned: fc.option(fc.constant('x'), { nil: undefined, freq: 3 }),
    openNodes: fc.constantFrom([], [], ['mac-1']),
    otherOS: fc.constantFrom(undefined, { family: 'b', inMs: 0 }, { family: undefined, inMs: 10 }),
  })
  .map((facts) =>
    snapshotOf({
      spec: given({
        consumerRef: facts.wants === 'holder' ? consumerRef : undefined,
        release:
          facts.wants === 'release'
            ? given({
                ...release,
                reason: facts.reason,
                poolPrefix: facts.prefix,
                serverName: facts.serverName,
                requestedAt: facts.requestedAt ?? at(0),
              })
            : undefined,
        poolPrefix: facts.poolPrefix,
        reboot: facts.rebootAt ? { requestedAt: facts.rebootAt } : undefined,
      }) as Partial<MacHostSpec>,
      status: given({
        state: facts.state,
        wipe: facts.wipe && given(facts.wipe),
        quarantine: facts.until ? { count: 1, reason: 'x', until: facts.until } : undefined,
        rebootIssuedAt: facts.rebootIssuedAt,
        claim: facts.claim && given(facts.claim),
      }) as MacHostStatus,
      server:
        facts.view === 'seen'
          ? seen({ name: facts.name, status: facts.status, type: facts.type }, { fresh: facts.fresh, ageMs: facts.age })
          : facts.view === 'missing'
            ? { kind: 'missing', fresh: facts.fresh }
            : { kind: 'unknown', why: '' },
      holder: facts.holder as Snapshot['holder'],
      abandoned: facts.abandoned,
      schedulableNodes: facts.openNodes,
      otherOS: facts.otherOS,
      pauses: facts.pauses,
      claimants: facts.claimant ? [{ key: 'fleet/mac-1', by: facts.claimant }] : [],
    }),
  );

describe('decide, for any snapshot', () => {
  const always = (what: (snapshot: Snapshot, decision: Decision) => void): void =>
    fc.assert(
      fc.property(anySnapshot, (snapshot) => what(snapshot, decide(snapshot))),
      { numRuns: 2000 },
    );
  const isFresh = ({ server }: Snapshot): boolean => server.kind !== 'unknown' && server.fresh;

  it('is total, and so is the state', () => {
    always((snapshot, decision) => {
      summarize(decision);
      stateOf(snapshot);
      if (decision.kind === 'report' && decision.againMs !== undefined) assert.ok(decision.againMs >= 0);
    });
  });

  it('never acts on a server without a live read, and never requests a second one', () => {
    always((snapshot, decision) => {
      const { kind } = decision;
      if (isFresh(snapshot)) return assert.notEqual(kind, 'read server');
      // The time of a name may be recorded from a list.
      if (kind === 'record name') return assert.equal(decision.claim.settledAt, undefined);
      // A cordon does not change the server.
      assert.ok(['read server', 'read holder', 'report', 'cordon'].includes(kind), kind);
    });
  });

  it('wipes a Mac only during its release, under its releasing name, and never while it is held (invariant 2)', () => {
    always(({ spec, server }, { kind }) => {
      if (kind !== 'request wipe') return;
      assert.ok(spec.release && !spec.consumerRef);
      assert.ok(server.kind === 'seen' && server.server.name.startsWith(`tuist-releasing-${spec.release.poolPrefix}`));
    });
  });

  it('does not touch a Mac named by another cluster or a person, unless a machine works on it', () => {
    always(({ spec, server, holder }, { kind }) => {
      if (!['rename', 'request wipe', 'reboot', 'record wipe end', 'return to pool'].includes(kind)) return;
      assert.ok(server.kind === 'seen');
      const { name } = server.server;
      if (holder.kind === 'alive' && holder.provisioned && spec.consumerRef) return;
      // A release by hand or by an older version does not name the server.
      if (spec.release && spec.release.serverName === undefined) return;
      const own = spec.release?.serverName ?? spec.consumerRef?.name ?? '';
      const prefix = spec.release?.poolPrefix ?? spec.poolPrefix ?? '';
      const inPool = prefix !== '' && name.startsWith(prefix);
      assert.ok(name === own || inPool || name.startsWith(`tuist-releasing-${prefix}`), `${kind} of ${name}`);
    });
  });

  it('does not touch a paused Mac (invariant 15)', () => {
    always(({ pauses }, { kind }) => {
      if (pauses.length > 0)
        assert.ok(
          ['read server', 'read holder', 'record wipe start', 'record wipe end', 'report'].includes(kind),
          kind,
        );
    });
  });

  it('gives a pool name only to a Mac wiped for this release (invariant 4)', () => {
    always(({ spec, status }, decision) => {
      const isPoolName = decision.kind === 'rename' && decision.why === 'wiped';
      if (!isPoolName && decision.kind !== 'return to pool') return;
      assert.ok(spec.release && status.wipe?.readyAt !== undefined);
      assert.ok(Date.parse(status.wipe.requestedAt ?? '') >= Date.parse(spec.release.requestedAt));
    });
  });

  it('renames or restarts a Mac only for an existing holder', () => {
    always(({ spec, holder }, decision) => {
      if (decision.kind === 'reboot' || (decision.kind === 'rename' && decision.why === 'held'))
        assert.ok(spec.consumerRef && holder.kind === 'alive');
    });
  });

  it('does not touch an abandoned Mac, and reports it', () => {
    always((snapshot, { kind }) => {
      if (snapshot.abandoned === undefined) return;
      assert.ok(['read server', 'read holder', 'report', 'delete', 'cordon'].includes(kind), kind);
      if (kind === 'delete') assert.equal(snapshot.server.kind, 'missing');
      assert.equal(stateOf(snapshot), 'abandoned');
    });
  });

  it('changes macOS only on a free Mac of a pool', () => {
    always((snapshot, { kind }) => {
      if (kind !== 'reinstall') return;
      assert.ok(!snapshot.spec.consumerRef && !snapshot.spec.release);
      assert.equal(stateOf(snapshot), 'pool');
    });
  });

  it('a Mac is claimable only without holder and release', () => {
    always((snapshot) => {
      const state = stateOf(snapshot);
      if (snapshot.spec.release || snapshot.spec.consumerRef) assert.notEqual(state, 'pool');
    });
  });
});

describe('the conditions of a MacHost, for any snapshot', () => {
  const judge = () => ({ reason: 'ReportOnly', message: 'x' }) as const;
  const formatCondition = ({ type, reason, message }: ConditionUpdate) => `${type} ${reason} ${message}`;

  it('are complete, and do not depend on earlier ones', () => {
    const types = Object.keys(conditionsByKind.MacHost).toSorted();
    fc.assert(
      fc.property(anySnapshot, anySnapshot, (snapshot, other) => {
        const conditions = conditionsOf(snapshot, judge, undefined);
        assert.deepEqual(conditions.map(({ type }) => type).toSorted(), types);
        const earlier = setConditions([], conditionsOf(other, judge, undefined), 1, now);
        const later = { ...snapshot, status: { ...snapshot.status, conditions: earlier } };
        assert.deepEqual(conditionsOf(later, judge, undefined).map(formatCondition), conditions.map(formatCondition));
      }),
      { numRuns: 2000 },
    );
  });

  it('are those of the last observation while Scaleway does not answer', () => {
    const remembered = { name: 'mac-1', type: 'M2-L', serverStatus: 'ready', ...settled };
    const reasons = (facts: Facts) =>
      conditionsOf(snapshotOf(facts), judge, undefined)
        .slice(0, 3)
        .map(({ reason }) => reason);
    const unknown = { kind: 'unknown', why: '' } as const;
    const seenReasons = reasons(held({ server: seen(mine), status: settled }));
    assert.deepEqual(seenReasons, ['Listed', 'NameMatches', 'InUse']);
    assert.deepEqual(reasons(held({ server: unknown, status: remembered })), seenReasons);
    assert.deepEqual(reasons(held({ server: { kind: 'missing', fresh: false }, status: remembered })), seenReasons);
    assert.deepEqual(reasons({ server: unknown, status: { ...remembered, gone: true } })[0], 'Gone');
    assert.deepEqual(reasons({ server: unknown }), ['ZoneNotListed', 'RenamePending', 'NotSeen']);
  });

  it('name the cause of a quarantine after the release that caused it', () => {
    const quarantined = (cause?: Quarantine['cause'], until = at(minute)) =>
      conditionsOf(
        snapshotOf({ status: { quarantine: { count: 1, reason: 'x', until, ...(cause && { cause }) } } }),
        judge,
        undefined,
      ).find(({ type }) => type === 'Quarantined')?.reason;
    assert.equal(quarantined('NotWiped'), 'NotWiped');
    assert.equal(quarantined('WipeFailed'), 'WipeFailed');
    assert.equal(quarantined('WipeFailed', 'never'), 'WipeFailed', 'without a valid end');
    assert.equal(quarantined('WipeFailed', at(0)), 'NotQuarantined');
    assert.equal(quarantined(), 'BootstrapsFailed', 'written by an earlier release');
  });
});
