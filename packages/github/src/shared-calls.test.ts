import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createHarness, labels, repository } from './testing/harness.ts';

const minute = 60_000;

describe('ten services of one installation and owner', () => {
  const ten = () => {
    const harness = createHarness();
    const services = Array.from({ length: 10 }, () => harness.service());
    const sent = (path: RegExp): number => harness.github.requests.filter((each) => path.test(each)).length;
    return { ...harness, services, sent };
  };

  test('list the runners once, also one after the other', async () => {
    const { services, sent, mintRunner } = ten();
    await mintRunner('one');
    const answers = await Promise.all(services.map((each) => each.list({ maxAgeMs: minute })));
    for (const each of services) answers.push(await each.list({ maxAgeMs: minute }));
    for (const answer of answers)
      assert.ok(answer.kind === 'listed' && answer.runners[0]?.name === 'one', JSON.stringify(answer));
    assert.equal(sent(/GET .*runners\?/), 1);
  });

  test('search for queued jobs once, whatever their labels', async () => {
    const { github, services, sent } = ten();
    github.queueJob({ repository: 'acme/app', labels });
    const found = await Promise.all(
      services.map((each, at) => each.queue(at === 0 ? ['linux'] : labels, { maxAgeMs: minute })),
    );
    assert.deepEqual(
      found.map((each) => each.kind === 'known' && each.queue.jobs),
      [0, ...Array.from({ length: 9 }, () => 1)],
    );
    assert.equal(sent(/installation\/repositories/), 1);
    assert.equal(sent(/actions\/runs\?/), 2, 'queued and in progress');
  });

  test('ask for the newest release once', async () => {
    const { services, sent } = ten();
    await Promise.all(services.map((each) => each.newestRunner({ maxAgeMs: minute })));
    assert.equal(sent(/downloads/), 1);
  });

  test('a caller that accepts no older answer gets one of a read that began after its call', async () => {
    const { services, sent, mintRunner } = ten();
    const [first, second] = services;
    assert.ok(first && second);
    assert.deepEqual(await first.list({ maxAgeMs: minute }), { kind: 'listed', runners: [] });
    await mintRunner('one');
    const old = await second.list({ maxAgeMs: minute });
    assert.ok(old.kind === 'listed' && old.runners.length === 0);
    const fresh = await second.list();
    assert.ok(fresh.kind === 'listed' && fresh.runners.length === 1);
    assert.equal(sent(/GET .*runners\?/), 2);
  });

  test('share a failure too', async () => {
    const { github, services, sent } = ten();
    github.faults.calls.push({ match: /GET .*actions\/runners/, times: 10, with: { status: 503 } });
    const answers = await Promise.all(services.map((each) => each.list({ maxAgeMs: minute })));
    assert.ok(answers.every((each) => each.kind === 'problem' && each.reason === 'Unavailable'));
    assert.equal(sent(/GET .*runners\?/), 1);
  });

  test('do not share with another owner', async () => {
    const { service, sent } = ten();
    await service().list({ maxAgeMs: minute });
    await service({ owner: repository }).list({ maxAgeMs: minute });
    assert.deepEqual(
      [sent(/GET \/orgs\/acme\/actions\/runners/), sent(/GET \/repos\/acme\/app\/actions\/runners/)],
      [1, 1],
    );
  });
});
