import { attemptOutcomes, attemptTasks, type LastAttempt, type MachineStatus } from '@tartan/api';
import fc from 'fast-check';
import type { HostFacts, MachineFacts, NodeFacts, Snapshot } from '../snapshot.ts';
import { now } from './snapshots.ts';

const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined });
const hash = fc.constantFrom('a', 'b', 'c');
const server = fc.constantFrom('', 'server-1', 'server-2');
const moment = fc.oneof(fc.integer({ min: now - 1e10, max: now + 1e10 }), fc.constantFrom(Number.NaN, 0, Infinity));
const stamp = fc.oneof(
  fc.integer({ min: now - 1e10, max: now + 1e10 }).map((time) => new Date(time).toISOString()),
  fc.constant('never'),
);
const count = fc.integer({ min: 0, max: 10 });
const limit = maybe(count);

const attempt: fc.Arbitrary<LastAttempt> = fc.record({
  task: fc.constantFrom(...attemptTasks),
  outcome: fc.constantFrom(...attemptOutcomes),
  message: fc.string(),
  at: stamp,
  count,
});

/** Any field may be missing. */
const status: fc.Arbitrary<MachineStatus> = fc.record(
  {
    initialization: fc.record({ provisioned: fc.boolean() }),
    serverID: server,
    lastAttempt: attempt,
    bootstrapAttempts: count,
    bootstrapRebootIssued: fc.boolean(),
    lastBootstrapFailureTime: stamp,
    joinTokenID: fc.constantFrom('tok111', 'tok222'),
    joinTokenExpires: stamp,
    joinVersion: fc.constantFrom('tok111', 'tok222'),
    certificateExpires: stamp,
    hostConfigHash: hash,
    failedHostConfigHash: hash,
    tartKubeletUpdateAttempts: count,
    lastUpdateFailureTime: stamp,
  },
  { requiredKeys: [] },
);

const machine: fc.Arbitrary<MachineFacts> = fc.record({
  name: fc.constant('mac-1'),
  deleting: fc.boolean(),
  hasFinalizer: fc.boolean(),
  blocksMove: fc.boolean(),
  providerID: maybe(fc.constantFrom('scw-applesilicon://z/server-1', 'scw-applesilicon://z/server-2', 'aws://x')),
  versionedPin: fc.boolean(),
  poolPrefix: maybe(fc.constant('tuist-pool-')),
  allowedPoolPrefixes: fc.constantFrom([], ['tuist-pool-'], ['other-']),
  status,
});

const host: fc.Arbitrary<HostFacts> = fc.oneof(
  fc.constant({ kind: 'none' as const }),
  fc.record({
    kind: fc.constant('absent' as const),
    server: fc.constantFrom('exists' as const, 'gone' as const, 'unknown' as const),
    message: fc.string(),
  }),
  fc.record({
    kind: fc.constant('present' as const),
    holder: fc.constantFrom('me' as const, 'me' as const, 'nobody' as const, 'other' as const),
    release: maybe(fc.record({ begun: fc.boolean(), stuck: fc.boolean() })),
    abandoned: fc.boolean(),
    gone: fc.boolean(),
    nameVerified: fc.boolean(),
    nameMatches: fc.boolean(),
    providerIDMatches: fc.boolean(),
    inPool: fc.boolean(),
    serverStatus: maybe(fc.constantFrom('ready', 'rebooting')),
    installs: fc.nat(3),
    poolPrefix: maybe(fc.constant('tuist-pool-')),
    rebootRequestedAt: maybe(moment),
    rebootIssuedAt: maybe(moment),
    message: fc.string(),
  }),
);

const node: fc.Arbitrary<NodeFacts> = fc.oneof(
  fc.record({ kind: fc.constant('missing' as const), forMs: fc.integer({ min: 0, max: 1e6 }) }),
  fc.record({ kind: fc.constant('foreign' as const), providerID: fc.string() }),
  fc.record({
    kind: fc.constant('ours' as const),
    ready: fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const),
    message: fc.string(),
    summary: maybe(hash),
    unschedulable: fc.boolean(),
    cordonedByUs: fc.boolean(),
  }),
);

/** Any snapshot, likely or not. */
export const anySnapshot: fc.Arbitrary<Snapshot> = fc.record({
  now: fc.constant(now),
  policy: fc.record({
    rebootAfter: limit,
    giveUpAfter: limit,
    updateGiveUpAfter: limit,
    updateRetryAfterMs: maybe(fc.nat(1e8)),
  }),
  machine,
  cluster: fc.record({
    pauseReasons: fc.array(fc.string(), { maxLength: 1 }),
    refusal: maybe(
      fc.record({
        reason: fc.constantFrom('NamespaceNotAllowed' as const, 'NotInCluster' as const),
        message: fc.string(),
      }),
    ),
    waitingFor: maybe(fc.string()),
  }),
  fleetKey: fc.oneof(
    fc.constant({ kind: 'ready' as const }),
    fc.constant({ kind: 'pending' as const }),
    fc.record({ kind: fc.constant('unavailable' as const), message: fc.string() }),
  ),
  choice: fc.oneof(
    fc.constant({ kind: 'not asked' as const }),
    fc.record({ kind: fc.constant('chosen' as const), serverID: fc.constant('server-1') }),
    fc.record({ kind: fc.constant('none' as const), message: fc.string() }),
  ),
  host,
  login: fc.oneof(
    fc.constant({ kind: 'missing' as const }),
    fc.constant({ kind: 'stale' as const }),
    fc.record({ kind: fc.constant('known' as const), hasPassword: fc.boolean() }),
  ),
  failedRead: maybe(
    fc.record({
      outcome: fc.constantFrom(...attemptOutcomes),
      inARow: fc.nat(100),
      forMs: fc.integer({ min: 0, max: 1e8 }),
    }),
  ),
  node,
  runner: fc.oneof(
    fc.constantFrom({ kind: 'not asked' as const }, { kind: 'none' as const }),
    fc.record({ kind: fc.constant('there' as const), id: fc.nat(9), isBusy: fc.boolean() }),
    fc.record({
      kind: fc.constant('unknown' as const),
      forMs: fc.integer({ min: 0, max: 1e8 }),
      wasBusy: fc.boolean(),
      message: fc.string(),
    }),
  ),
  join: fc.record({
    lease: maybe(fc.record({ nodeName: fc.constant('mac-1'), renewedAt: moment })),
    identity: maybe(fc.record({ nodeName: fc.constant('mac-1'), issuedAt: moment, expiresAt: moment })),
  }),
  desired: fc.oneof(
    fc.constant({ kind: 'not asked' as const }),
    fc.record({ kind: fc.constant('known' as const), hash }),
    fc.record({ kind: fc.constant('problem' as const), message: fc.string() }),
  ),
  turn: maybe(fc.record({ hash, rollBack: fc.boolean() })),
  idle: maybe(fc.boolean()),
});
