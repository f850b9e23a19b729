import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Candidate, createElectionHarness, type ElectionHarness, settle } from './testing/election-harness.ts';
import type { RequestFault } from './testing/lease-server.ts';

const durations = { leaseMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 400 };

/** Network faults and clock speed of one candidate. */
const profile = fc.record({
  speed: fc.constantFrom(0.85, 1, 1.15),
  slowMs: fc.constantFrom(0, 50, 400, 950),
  faults: fc.constantFrom(0, 0.1, 0.4),
  settleMs: fc.constantFrom(0, 30, 700),
});

type Profile = typeof profile extends fc.Arbitrary<infer T> ? T : never;

const faultStep = fc.record({
  who: fc.nat(2),
  what: fc.constantFrom('freeze', 'thaw', 'cut', 'mend', 'jump', 'stop', 'nothing', 'nothing'),
  /** Until the next fault. */
  forMs: fc.nat(2_500),
});

const schedule = fc.record({
  seed: fc.integer(),
  profiles: fc.array(profile, { minLength: 2, maxLength: 3 }),
  faultSteps: fc.array(faultStep, { minLength: 6, maxLength: 20 }),
});

/** A linear congruential generator: same seed, same run. */
const seeded = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

const kinds = ['requestLost', 'answerLost', 'failedBefore', 'failedAfter'] as const;

interface Member {
  candidate: Candidate;
  cut: boolean;
  /** Was stopped, was ever frozen, has ended. */
  stopped: boolean;
  frozen: boolean;
  over: boolean;
}

const startMembers = (harness: ElectionHarness, { seed, profiles }: { seed: number; profiles: Profile[] }): Member[] =>
  profiles.map(({ speed, slowMs, faults, settleMs }, index) => {
    const random = seeded(seed + index);
    const candidate = harness.candidate(`c${index}`, { speed, random, durations });
    const member: Member = { candidate, cut: false, stopped: false, frozen: false, over: false };
    const delay = (): number => (random() < 0.5 ? 0 : Math.floor(random() * slowMs));
    candidate.settleMs = settleMs;
    void candidate.done.then(() => {
      member.over = true;
    });
    candidate.faultOf = (): RequestFault => ({
      toMs: delay(),
      backMs: delay(),
      kind: member.cut
        ? 'requestLost'
        : random() < faults
          ? (kinds[Math.floor(random() * 4)] ?? 'answerLost')
          : 'answered',
    });
    return member;
  });

const applyFault = async (what: string, member: Member): Promise<void> => {
  const { candidate } = member;
  if (what === 'freeze') {
    member.frozen = true;
    candidate.clock.freeze();
  }
  if (what === 'thaw') await candidate.clock.thaw();
  if (what === 'cut' || what === 'mend') member.cut = what === 'cut';
  if (what === 'jump') candidate.clock.jump(-3_600_000);
  if (what === 'stop') {
    member.stopped = true;
    candidate.stop();
  }
};

/** Invariants at any instant. */
const check = (harness: ElectionHarness, members: readonly Member[]): void => {
  const passing = harness.candidatesWithOpenGate();
  assert.ok(passing.length <= 1, `${passing.join(' and ')} pass at the same time`);
  const active = members.filter(({ candidate }) => !candidate.cancelled && !candidate.clock.frozen);
  assert.ok(active.length <= 1, `${active.map(({ candidate }) => candidate.name).join(' and ')} work at the same time`);
};

const advance = async (harness: ElectionHarness, members: readonly Member[], milliseconds: number): Promise<void> => {
  for (let left = milliseconds; left > 0; left -= 90) {
    harness.clock.advance(Math.min(90, left));
    check(harness, members);
    await settle();
    check(harness, members);
  }
};

test('under any faults, no two candidates have an open gate at the same time, and one leads in the end', async () => {
  let terms = 0;
  await fc.assert(
    fc.asyncProperty(schedule, async ({ seed, profiles, faultSteps }) => {
      const harness = createElectionHarness();
      const members = startMembers(harness, { seed, profiles });
      await settle();
      for (const { who, what, forMs } of faultSteps) {
        const member = members[who % members.length];
        if (member) await applyFault(what, member);
        await settle();
        await advance(harness, members, forMs);
      }
      for (const { candidate } of members) {
        candidate.faultOf = () => ({ toMs: 5, backMs: 5, kind: 'answered' });
        await candidate.clock.thaw();
      }
      await settle();
      await advance(harness, members, 9_000);
      if (members.some(({ stopped, over }) => !stopped && !over))
        assert.equal(harness.candidatesWithOpenGate().length, 1);
      for (const { candidate } of members) candidate.stop();
      await advance(harness, members, 3_000);
      for (const { candidate, frozen } of members) {
        // Frozen while its work was ending, for longer than the grace period.
        assert.ok((await candidate.done) === 'stopped' || frozen);
      }
      terms += harness.events.filter(({ what }) => what === 'started').length;
    }),
    { numRuns: 600 },
  );
  assert.ok(terms > 700, `leadership changed hands (${terms} terms)`);
});
