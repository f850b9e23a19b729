import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { annotations, type MacHostStatus, releaseReasonMeanings, releaseReasons } from '@tartan/api';
import { timestamp } from '@tartan/kube/clock';
import { defaultLimits as limits, type Quarantine, type Release, type Wipe } from './snapshot.ts';
import {
  afterWipe,
  attemptsOf,
  faultOf,
  isQuarantined,
  nextWipe,
  quarantineFor,
  refusedName,
  refusedWipe,
  retiredKeysWith,
  retryInMs,
  stuckMessage,
  stuckWipe,
  wipeOf,
} from './wipe.ts';

const now = Date.parse('2026-01-01T12:00:00Z');
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const at = (milliseconds: number): string => timestamp(now + milliseconds);

const release: Release = { poolPrefix: 'tuist-pool-', reason: 'MachineDeleted', requestedAt: at(-minute) };
const notWiped: Release = { ...release, reason: 'NotWiped', message: 'It has an agent.' };
const exhausted: Release = { ...release, reason: 'BootstrapExhausted', message: 'sshd refused.' };
const image = { id: 'i', name: 'macos-tahoe-26.3' };
const quarantine = (until: string, count = 1): Quarantine => ({ count, reason: 'x', cause: 'NotWiped', until });
const long = 'x'.repeat(2000);

describe('the wipe of a release', () => {
  const table: [title: string, wipe: Wipe | undefined, belongs: boolean][] = [
    ['none', undefined, false],
    ['without a time', {}, false],
    ['with an invalid time', { requestedAt: 'soon' }, false],
    ['older than the release', { requestedAt: at(-minute - 1000) }, false],
    ['of the second of the release', { requestedAt: at(-minute) }, true],
    ['later than the release', { requestedAt: at(0) }, true],
  ];
  for (const [title, wipe, belongs] of table)
    it(title, () => assert.equal(wipeOf(release, wipe ? { wipe } : {}), belongs ? wipe : undefined));

  it('counts its attempts; one without a count was written by an earlier release', () =>
    assert.deepEqual([undefined, {}, { attempts: 0 }, { attempts: 3 }].map(attemptsOf), [0, 1, 0, 3]));
});

describe('the record of the next attempt', () => {
  it('is the first, now', () =>
    assert.deepEqual(nextWipe(release, undefined, now), { attempts: 1, requestedAt: at(0) }));

  it('keeps the refusal, the image and stuckAt, and drops the times of the last attempt', () => {
    const kept = { refusal: 'No.', image, stuckAt: at(-2) };
    const last = {
      ...kept,
      attempts: 2,
      requestedAt: at(-9),
      refusedAt: at(-8),
      reinstallingAt: at(-7),
      readyAt: at(-6),
    };
    assert.deepEqual(nextWipe(release, last, now), { ...kept, attempts: 3, requestedAt: at(0) });
  });

  it('is not older than a release that another clock set', () =>
    assert.equal(nextWipe({ ...release, requestedAt: at(minute) }, undefined, now).requestedAt, at(minute)));

  it('has a time of whole seconds also in the second of a release with milliseconds', () => {
    const requestedAt = new Date(now + 500).toISOString();
    assert.equal(nextWipe({ ...release, requestedAt }, undefined, now + 700).requestedAt, requestedAt);
    assert.equal(nextWipe({ ...release, requestedAt: new Date(now).toISOString() }, undefined, now).requestedAt, at(0));
  });
});

describe('the record of a refusal', () => {
  it('of a reinstall has its time and a text of bounded length', () => {
    const wipe = { attempts: 2, requestedAt: at(-5), stuckAt: at(-9) };
    assert.deepEqual(refusedWipe(wipe, 'No.', now), { ...wipe, refusedAt: at(0), refusal: 'No.' });
    assert.equal(refusedWipe({}, long, now).refusal?.length, 1024);
  });

  it('of a name counts as an attempt, the first one too', () => {
    const status: MacHostStatus = { name: 'x' };
    const wipe = { requestedAt: at(0), attempts: 1, refusedAt: at(0), refusal: 'No.' };
    assert.deepEqual(refusedName({ status, now, limits }, release, 'No.'), { ...status, wipe });
    const again = refusedName({ status: { ...status, wipe }, now: now + minute, limits }, release, 'Still no.');
    assert.deepEqual(again, { ...status, wipe: { ...wipe, attempts: 2, refusedAt: at(minute), refusal: 'Still no.' } });
  });

  it('of a name does not count the wipe of another release', () => {
    const status: MacHostStatus = { wipe: { attempts: 5, requestedAt: at(-hour), image } };
    assert.deepEqual(refusedName({ status, now, limits }, release, 'No.').wipe, {
      requestedAt: at(0),
      attempts: 1,
      refusedAt: at(0),
      refusal: 'No.',
    });
  });

  it('of the first name quarantines a Mac with a fault, once', () => {
    const first = refusedName({ status: {}, now, limits }, notWiped, 'No.');
    assert.deepEqual(first.quarantine, { cause: 'NotWiped', reason: 'It has an agent.', count: 1, until: at(day) });
    const second = refusedName({ status: first, now: now + hour, limits }, notWiped, 'No.');
    assert.deepEqual(second.quarantine, first.quarantine);
  });
});

describe('the wait after an attempt, in minutes', () => {
  const table: [title: string, wipe: Wipe, minutes: number][] = [
    ['no attempt was made', { attempts: 0, requestedAt: at(0) }, 0],
    ['the first was not seen to start', { attempts: 1, requestedAt: at(0) }, 2],
    ['the first, a minute ago', { attempts: 1, requestedAt: at(-minute) }, 1],
    ['the first, two minutes ago', { attempts: 1, requestedAt: at(-2 * minute) }, 0],
    ['the first, long ago', { attempts: 1, requestedAt: at(-hour) }, 0],
    ['the third was not seen to start', { attempts: 3, requestedAt: at(0) }, 8],
    ['the ninth was not seen to start', { attempts: 9, requestedAt: at(0) }, 120],
    ['the first started', { attempts: 1, requestedAt: at(0), reinstallingAt: at(0) }, 15],
    ['it is stuck', { attempts: 1, requestedAt: at(0), stuckAt: at(0) }, 120],
    ['counted from the refusal', { attempts: 1, requestedAt: at(-hour), refusedAt: at(0) }, 2],
    ['a clock ahead of ours does not extend it', { attempts: 1, requestedAt: at(hour) }, 2],
    ['without a time', { attempts: 1 }, 0],
    ['with an invalid time', { attempts: 1, requestedAt: 'soon' }, 0],
  ];
  for (const [title, wipe, minutes] of table)
    it(`${title}: ${minutes}`, () => assert.equal(retryInMs(wipe, now, limits), minutes * minute));
});

describe('the fault of a Mac', () => {
  for (const reason of releaseReasons) {
    const isFault = reason === 'NotWiped' || reason === 'BootstrapExhausted';
    it(`${reason}: ${isFault ? 'one' : 'none'}`, () => {
      assert.equal(faultOf({ ...release, reason, message: 'Why.' }), isFault ? 'Why.' : undefined);
      assert.equal(faultOf({ ...release, reason }), isFault ? releaseReasonMeanings[reason] : undefined);
      assert.equal(faultOf({ ...release, reason, message: '' }), isFault ? releaseReasonMeanings[reason] : undefined);
    });
  }
});

describe('a quarantine', () => {
  const table: [title: string, status: MacHostStatus, quarantined: boolean][] = [
    ['none', {}, false],
    ['until later', { quarantine: quarantine(at(1000)) }, true],
    ['until now', { quarantine: quarantine(at(0)) }, false],
    ['without a valid end', { quarantine: quarantine('never') }, true],
  ];
  for (const [title, status, expected] of table)
    it(`${title}: ${expected ? 'lasts' : 'is over'}`, () => assert.equal(isQuarantined(status, now), expected));

  const setBy = (by: Release, wipe?: Wipe, status: MacHostStatus = {}) => quarantineFor(by, wipe, status, now, limits);
  it('is set with the first attempt, for a fault alone', () => {
    assert.equal(setBy(release), undefined);
    assert.equal(setBy(notWiped, { attempts: 1 }), undefined);
    assert.deepEqual(setBy(notWiped), { cause: 'NotWiped', reason: 'It has an agent.', count: 1, until: at(day) });
    assert.deepEqual(setBy(exhausted, { attempts: 0 }), {
      cause: 'BootstrapsFailed',
      reason: 'sshd refused.',
      count: 1,
      until: at(day),
    });
  });
  it('lasts a day more each time, and a week at most', () => {
    const days = (count: number) => setBy(notWiped, undefined, { quarantine: quarantine(at(-day), count) });
    assert.deepEqual(
      [0, 1, 6, 7].map((count) => [days(count)?.count, days(count)?.until]),
      [
        [1, at(day)],
        [2, at(2 * day)],
        [7, at(7 * day)],
        [8, at(7 * day)],
      ],
    );
  });
});

describe('the record of a Mac that cannot be wiped', () => {
  const wipe: Wipe = { attempts: 3, requestedAt: at(-2000), refusal: 'No.' };
  const started: Wipe = { ...wipe, reinstallingAt: at(-1000) };
  const stuck = (status: MacHostStatus, doing: string) => stuckWipe({ status, now, limits }, release, doing);
  const reason = 'Scaleway was asked 3 times to reinstall it and did not get it done; it is';

  it('has a quarantine that ends with a wipe when Scaleway refuses, and does not count', () => {
    assert.deepEqual(stuck({ wipe }, 'ready'), {
      wipe: { ...wipe, stuckAt: at(0) },
      quarantine: { cause: 'WipeFailed', reason: `${reason} ready. No.`, count: 0, until: at(0) },
    });
    assert.equal(stuck({ wipe, quarantine: quarantine(at(0), 2) }, 'ready').quarantine?.count, 2);
  });

  const atFault: [title: string, wipe: Wipe, doing: string, count: number, until: string][] = [
    ['its reinstalls fail', started, 'error', 2, at(2 * day)],
    ['its reinstall hangs', started, 'reinstalling', 1, at(0)],
    ['it is in error, but no reinstall was seen', wipe, 'error', 1, at(0)],
  ];
  for (const [title, before, doing, count, until] of atFault)
    it(`${title}: quarantine ${count}, until ${until}`, () =>
      assert.deepEqual(stuck({ wipe: before, quarantine: quarantine(at(-day)) }, doing).quarantine, {
        cause: 'WipeFailed',
        reason: `${reason} ${doing}. No.`,
        count,
        until,
      }));

  it('leaves a quarantine that lasts as it is', () => {
    const record = { wipe: { ...started, stuckAt: at(0) }, quarantine: undefined };
    assert.deepEqual(stuck({ wipe: started, quarantine: quarantine(at(1000)) }, 'error'), record);
    assert.deepEqual(stuck({ wipe: started, quarantine: quarantine('never') }, 'error'), record);
  });

  it('is made also if no attempt of this release was made', () => {
    const { wipe: record, quarantine: made } = stuck({ wipe: { attempts: 9, requestedAt: at(-hour) } }, 'rebooting');
    assert.deepEqual(record, { attempts: 0, requestedAt: at(0), stuckAt: at(0) });
    assert.equal(made?.reason, 'Scaleway was asked 0 times to reinstall it and did not get it done; it is rebooting.');
  });

  it('has a text of bounded length, for users with what to do', () => {
    assert.equal(stuck({ wipe: { ...wipe, refusal: long } }, 'ready').quarantine?.reason.length, 1024);
    assert.equal(
      stuckMessage(wipe, 'ready'),
      `${reason} ready. No. It is tried again every two hours, and free once it was wiped. Ask Scaleway's support to look at the server; to have it left alone, set the annotation ${annotations.abandon} on this MacHost.`,
    );
  });
});

describe('after a wipe', () => {
  const wipe: Wipe = {
    attempts: 3,
    requestedAt: at(-9000),
    reinstallingAt: at(-8000),
    refusedAt: at(-7000),
    refusal: 'No.',
    stuckAt: at(-6000),
    image,
  };
  const after = (status: MacHostStatus = {}, by = release) => afterWipe(by, { ...status, wipe }, wipe, now);

  it('the record has only the times of the wipe, and the install is counted', () => {
    const times = { requestedAt: at(-9000), reinstallingAt: at(-8000), readyAt: at(0) };
    assert.deepEqual(after({ name: 'x' }), { name: 'x', wipe: times, installs: 1 });
    assert.equal(after({ installs: 4 }).installs, 5);
  });

  it('a quarantine stays unless it was only for the wipe', () => {
    assert.deepEqual(after({ quarantine: quarantine(at(day), 1) }).quarantine, quarantine(at(day), 1));
    assert.ok(!('quarantine' in after({ quarantine: quarantine(at(0), 0) })));
  });

  it('the key of the released install is retired, once, and the last 64 are kept', () => {
    const keysAfter = (before: string[] | undefined, hostKey?: string) =>
      retiredKeysWith(
        before ? { retiredHostKeys: before } : {},
        hostKey === undefined ? release : { ...release, hostKey },
      );
    assert.deepEqual(keysAfter(undefined), []);
    assert.deepEqual(keysAfter(undefined, ''), []);
    assert.deepEqual(keysAfter(['a'], 'b'), ['a', 'b']);
    assert.deepEqual(keysAfter(['a', 'b'], 'a'), ['a', 'b']);
    const many = Array.from({ length: 64 }, (_, index) => `key ${index}`);
    assert.deepEqual(keysAfter(many, 'new'), [...many.slice(1), 'new']);
    assert.deepEqual(after({ retiredHostKeys: ['a'] }, { ...release, hostKey: 'b' }).retiredHostKeys, ['a', 'b']);
    assert.ok(!('retiredHostKeys' in after()));
  });
});
