import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  afterRefusal,
  afterStart,
  emptyHistory,
  parseHistory,
  startHealth,
  type StartHistory,
} from './start-health.ts';

const minute = 60_000;

type Step =
  | { readonly refused: string; readonly running?: number | undefined; readonly image?: string }
  | { readonly works: string; readonly running?: number }
  | { readonly waits: number };

const reasons: Readonly<Record<string, Parameters<typeof afterRefusal>[1]['reason']>> = {
  limit: 'VM limit reached',
  session: 'no GUI session',
};

const after = (steps: readonly Step[]): { evidence: StartHistory; now: number } => {
  let evidence = emptyHistory('boot-1');
  let now = 0;
  for (const step of steps) {
    if ('waits' in step) now += step.waits;
    else if ('works' in step) evidence = afterStart(evidence, { image: step.works, running: step.running ?? 1 });
    else {
      const { image = 'a', refused } = step;
      const running = 'running' in step ? step.running : 0;
      evidence = afterRefusal(
        evidence,
        { reason: reasons[refused] ?? 'other', message: refused, image, running },
        2,
        now,
      );
    }
  }
  return { evidence, now };
};

const verdictAfter = (steps: readonly Step[]): string => {
  const { evidence, now } = after(steps);
  return startHealth(evidence, 2, now).kind;
};

const no = (image = 'a'): Step => ({ refused: 'no', image });
const full = (running?: number): Step => ({ refused: 'limit', running });
const noSession: Step = { refused: 'session' };
const yes = (image = 'a', running = 1): Step => ({ works: image, running });
const pass = (minutes: number): Step => ({ waits: minutes * minute });

describe('start health', () => {
  it('remembers the last 20 images that started', () => {
    const images = Array.from({ length: 21 }, (_, index) => `image-${index}`);
    assert.deepEqual(after(images.map((image) => yes(image))).evidence.started, images.slice(1));
  });

  const table: readonly [string, readonly Step[], string][] = [
    ['no start attempts', [], 'works'],
    ['two refusals are not enough', [no(), no()], 'works'],
    ['a Mac that never started anything since it booted', [no(), no(), no()], 'refused'],
    ['a start that works ends the verdict', [no(), no(), no(), yes()], 'works'],
    ['a successful start resets the count', [no(), no(), yes(), no(), no()], 'works'],
    ['an image that worked does not work any more', [yes(), no(), no(), no()], 'refused'],
    ['only a successful start or a reboot clears it', [yes(), no(), no(), no(), pass(60)], 'refused'],
    ['one broken image taints no Mac on which others start', [yes('b'), no(), no(), no(), no(), no()], 'works'],
    ['two images are refused, and others have started', [yes('c'), no(), no(), no('b')], 'refused'],
    ['nobody is logged in, and others have started', [yes('b'), noSession, noSession, noSession], 'refused'],
    ['nobody is logged in at first, and others have started', [yes('b'), noSession, no(), no(), no()], 'refused'],
    ['one of two images worked, long ago', [yes(), no('b'), no(), no('b'), pass(60)], 'refused'],
    ['a broken image taints no Mac for ever: its Pod is gone', [no(), no(), no(), pass(10)], 'works'],
    ['while its Pod waits and tries, it does', [no(), no(), no(), pass(9), no(), pass(9)], 'refused'],
    ['the next refusal after that counts at once', [no(), no(), no(), pass(11), no()], 'refused'],
    ['two broken images do not taint the Mac for ever', [yes('c'), no(), no(), no('b'), pass(10)], 'works'],
    ['too many, although none runs', [full(0), full(0), full(0)], 'slots leaked'],
    ['too many, although but one runs', [full(1), full(1), full(1)], 'slots leaked'],
    ['twice is a guest that has not quite ended', [full(1), full(1)], 'works'],
    ['as many run as may run', [full(2), full(2), full(2), full(2)], 'works'],
    ['the number of running VMs is unknown', [full(undefined), full(undefined), full(undefined)], 'works'],
    ['lost slots do not come back with time', [full(0), full(0), full(0), pass(600)], 'slots leaked'],
    ['a start shows that none is lost', [full(0), full(0), full(0), yes()], 'works'],
    ['a start in the other slot shows nothing', [full(1), full(1), full(1), yes('a', 1)], 'slots leaked'],
    ['two running VMs show that no slot is leaked', [full(1), full(1), full(1), yes('a', 2)], 'works'],
    ['the lowest number of running VMs counts', [full(1), full(0), full(1), yes('a', 1)], 'works'],
  ];
  for (const [what, steps, kind] of table) it(`${what}: ${kind}`, () => assert.equal(verdictAfter(steps), kind));

  const anyStep: fc.Arbitrary<Step> = fc.oneof(
    fc.record({
      refused: fc.constantFrom('no', 'limit', 'session'),
      image: fc.constantFrom('a', 'b', 'c'),
      running: fc.option(fc.nat(3), { nil: undefined }),
    }),
    fc.record({ works: fc.constantFrom('a', 'b', 'c'), running: fc.integer({ min: 1, max: 2 }) }),
    fc.record({ waits: fc.nat(20 * minute) }),
  );

  it('is good right after a start that fills the Mac', () =>
    fc.assert(fc.property(fc.array(anyStep), (steps) => assert.equal(verdictAfter([...steps, yes('a', 2)]), 'works'))));

  it('history is valid for one boot', () =>
    fc.assert(
      fc.property(fc.array(anyStep), (steps) => {
        const { evidence } = after(steps);
        const text = JSON.stringify(evidence);
        assert.deepEqual(parseHistory(text, 'boot-1'), JSON.parse(text));
        assert.equal(parseHistory(text, 'boot-2'), undefined);
      }),
    ));

  it('unreadable history is ignored', () => {
    for (const text of ['', '{', '{}', '[]', '{"bootID":"boot-1"}'])
      assert.equal(parseHistory(text, 'boot-1'), undefined);
  });
});
