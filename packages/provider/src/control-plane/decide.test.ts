import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Decision, decide, type SecretFacts, type Snapshot, type Staleness } from './decide.ts';

const hour = 3_600_000;
const minute = 60_000;
const target = { server: 'https://10.0.0.1:443', caData: 'Q0E=' };
const tokenMetadata = { mintedAt: 0, expiresAt: 24 * hour, account: 'a' };
const fresh: SecretFacts = {
  controller: 'us',
  marked: true,
  kubeconfigOwner: 'ours',
  findable: true,
  rewritable: true,
  target,
  tokenMetadata,
};
/** A user wrote the kubeconfig: of ours, only the metadata is left. */
const foreign: Partial<SecretFacts> = { kubeconfigOwner: 'theirs', target: undefined, tokenMetadata: undefined };
const unmarked: Partial<SecretFacts> = { ...foreign, controller: 'nobody', marked: false };
const usual: Snapshot = {
  mode: 'Minted',
  secret: fresh,
  account: 'a',
  target,
  now: hour,
  lifeMs: 24 * hour,
  lookAgainMs: 10 * minute,
};
const holding = (facts: Partial<SecretFacts>): Snapshot => ({ ...usual, secret: { ...fresh, ...facts } });
const remembering = (facts: Partial<typeof tokenMetadata>): Snapshot =>
  holding({ tokenMetadata: { ...tokenMetadata, ...facts } });
const write = (reason: Staleness, connects: boolean, how: 'create' | 'update' | 'replace' = 'update'): Decision => ({
  kind: 'write',
  how,
  reason,
  connects,
  account: 'a',
  target,
});
const keep = (forMs: number, expiresAt = 24 * hour): Decision => ({ kind: 'keep', connects: true, expiresAt, forMs });
const theirs = (connects: boolean): Decision => ({ kind: 'skip', connects });
const disown = (connects = true): Decision => ({ kind: 'disown', connects });
const provided = (snapshot: Snapshot): Snapshot => ({ ...snapshot, mode: 'Provided' });

const table: [string, Snapshot, Decision][] = [
  ['fresh', usual, keep(10 * minute)],
  ['just minted', { ...usual, now: 0 }, keep(10 * minute)],
  ['nearly due', { ...usual, now: 16 * hour - 5 }, keep(5)],
  ['two thirds over', { ...usual, now: 16 * hour }, write('due', true)],
  ['expired', { ...usual, now: 24 * hour }, write('due', false)],
  ['missing', { ...usual, secret: undefined }, write('missing', false, 'create')],
  ['without its label, or empty', holding({ findable: false }), write('damaged', false)],
  ['no kubeconfig of ours', holding({ target: undefined, tokenMetadata: undefined }), write('damaged', false)],
  ['without token metadata', holding({ tokenMetadata: undefined }), write('damaged', false)],
  ['immutable, or of another type', holding({ rewritable: false }), write('damaged', true, 'replace')],
  ['of another server', holding({ target: { ...target, server: 'https://x' } }), write('otherTarget', true)],
  ['of another authority', holding({ target: { ...target, caData: 'x' } }), write('otherTarget', true)],
  ['of an account that was replaced', remembering({ account: 'b' }), write('otherAccount', true)],
  ['said to live for longer than was asked', remembering({ expiresAt: 99 * hour }), write('implausible', true)],
  ['said to be minted tomorrow', remembering({ mintedAt: 20 * hour }), write('implausible', true)],
  ['granted for less', remembering({ expiresAt: 2 * hour }), keep(10 * minute, 2 * hour)],
  ['granted for less, nearly due', remembering({ expiresAt: 90 * minute + 3 }), keep(2, 90 * minute + 3)],
  [
    'a server whose clock is behind',
    remembering({ mintedAt: hour, expiresAt: 0 }),
    { ...keep(minute, 0), connects: false },
  ],
  ['of another controller', holding({ ...foreign, controller: 'other' }), theirs(true)],
  [
    'of another controller, old by our token metadata',
    { ...holding({ controller: 'other' }), now: 99 * hour },
    theirs(true),
  ],
  ['of another controller, not to be found by core', holding({ controller: 'other', findable: false }), theirs(false)],
  ['written by somebody else', holding(foreign), write('damaged', true)],
  ['made by somebody else', holding(unmarked), write('damaged', true)],
  [
    'made by somebody else, and immutable',
    holding({ ...unmarked, rewritable: false }),
    write('damaged', true, 'replace'),
  ],
  ['ours without an owner', holding({ controller: 'nobody' }), write('unowned', true)],

  ['mode Provided, still ours and fresh', provided(usual), keep(10 * minute)],
  ['mode Provided, still ours and due', provided({ ...usual, now: 16 * hour }), write('due', true)],
  ['to be provided, and there is none', provided({ ...usual, secret: undefined }), write('missing', false, 'create')],
  [
    'to be provided, and an empty one',
    provided(holding({ ...unmarked, kubeconfigOwner: 'none', findable: false })),
    write('damaged', false),
  ],
  [
    'to be provided, and ours without token metadata',
    provided(holding({ tokenMetadata: undefined })),
    write('damaged', false),
  ],
  ['mode Provided, still ours without an owner', provided(holding({ controller: 'nobody' })), write('unowned', true)],
  ['provided, and still marked as ours', provided(holding(foreign)), disown()],
  [
    'provided, and the owner reference went with what they wrote',
    provided(holding({ ...foreign, controller: 'nobody' })),
    disown(),
  ],
  ['provided, marked, and not to be found by core', provided(holding({ ...foreign, findable: false })), disown(false)],
  ['provided', provided(holding(unmarked)), theirs(true)],
  ['provided, and immutable', provided(holding({ ...unmarked, rewritable: false })), theirs(true)],
  ['provided, by a controller that owns it', provided(holding({ ...foreign, controller: 'other' })), theirs(true)],
  ['provided, and no account', provided({ ...holding(unmarked), account: undefined }), theirs(true)],
  [
    'to be provided, and no account',
    provided({ ...usual, secret: undefined, account: undefined }),
    { kind: 'blocked', reason: 'noAccount', connects: false },
  ],
  ['no account', { ...usual, account: undefined }, { kind: 'blocked', reason: 'noAccount', connects: false }],
  ['no address', { ...usual, target: undefined }, { kind: 'blocked', reason: 'noTarget', connects: true }],
  [
    'no address and no Secret',
    { ...usual, target: undefined, secret: undefined },
    { kind: 'blocked', reason: 'noTarget', connects: false },
  ],
];

describe('decide, for the kubeconfig of a control plane', () => {
  for (const [name, snapshot, decision] of table)
    it(`${name}: ${decision.kind}`, () => {
      assert.deepEqual(decide(snapshot), decision);
    });

  const time = fc.integer({ min: -100 * hour, max: 100 * hour });
  const word = fc.constantFrom('a', 'b');
  const anyTarget = fc.option(fc.record({ server: word, caData: word }, { noNullPrototype: true }), { nil: undefined });
  const any: fc.Arbitrary<Snapshot> = fc.record({
    mode: fc.constantFrom('Minted' as const, 'Provided' as const),
    secret: fc.option(
      fc.record({
        controller: fc.constantFrom('us' as const, 'other' as const, 'nobody' as const),
        marked: fc.boolean(),
        kubeconfigOwner: fc.constantFrom('ours' as const, 'theirs' as const, 'none' as const),
        findable: fc.boolean(),
        rewritable: fc.boolean(),
        target: anyTarget,
        tokenMetadata: fc.option(fc.record({ mintedAt: time, expiresAt: time, account: word }), { nil: undefined }),
      }),
      { nil: undefined },
    ),
    account: fc.option(word, { nil: undefined }),
    target: anyTarget,
    now: time,
    lifeMs: fc.integer({ min: 10 * minute, max: 48 * hour }),
    lookAgainMs: fc.integer({ min: 1, max: hour }),
  });

  it('is total, never writes a Secret of others, and never keeps a token beyond its expiry', () => {
    fc.assert(
      fc.property(any, (snapshot) => {
        const decision = decide(snapshot);
        const { secret, lookAgainMs } = snapshot;
        if (decision.kind === 'write') {
          assert.notEqual(secret?.controller, 'other');
          assert.ok(!(snapshot.mode === 'Provided' && secret?.kubeconfigOwner === 'theirs'));
          assert.equal(decision.how === 'create', secret === undefined);
        }
        if (decision.kind === 'disown')
          assert.ok(
            snapshot.mode === 'Provided' && secret?.kubeconfigOwner === 'theirs' && secret.controller !== 'other',
          );
        if (decision.kind !== 'keep') return;
        assert.ok(secret?.controller === 'us' && secret.findable && secret.tokenMetadata?.account === snapshot.account);
        assert.deepEqual(secret.target, snapshot.target);
        const { mintedAt = NaN, expiresAt = NaN } = secret.tokenMetadata ?? {};
        assert.ok(snapshot.now - mintedAt < Math.max(minute, ((expiresAt - mintedAt) * 2) / 3));
        assert.ok(decision.forMs > 0 && decision.forMs <= lookAgainMs);
      }),
      { numRuns: 5000 },
    );
  });
});
