import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createHarness, labels, repository } from '../testing/harness.ts';

const asked = ({ requests }: { readonly requests: readonly string[] }): number =>
  requests.filter((request) => request.includes('runner-groups')).length;

describe('runner groups', () => {
  test('are resolved by name, ignoring case, with one request', async () => {
    const { github, clock, service } = createHarness({ runnerGroups: [{ id: 7, name: 'Release' }] });
    const runners = service();
    for (const name of ['one', 'two']) {
      assert.equal((await runners.mint({ name, labels, group: 'release' })).kind, 'minted');
      clock.advance(5 * 60_000 - 1);
    }
    assert.deepEqual(
      github.runners().map(({ groupID }) => groupID),
      [7, 7],
    );
    assert.equal(asked(github), 1);
    clock.advance(2);
    await runners.mint({ name: 'three', labels, group: 'Release' });
    assert.equal(asked(github), 2);
  });

  test('the default group needs no request', async () => {
    const { github, service } = createHarness();
    for (const [name, group] of [
      ['one', undefined],
      ['two', 'Default'],
    ] as const) {
      assert.equal((await service().mint({ name, labels, group })).kind, 'minted');
    }
    assert.equal(asked(github), 0);
  });

  test('a missing group is reported with the existing ones, and requested again after a minute', async () => {
    const runnerGroups = [{ id: 7, name: 'Release' }];
    const { github, clock, service } = createHarness({ runnerGroups });
    const runners = service();
    for (let tried = 0; tried < 2; tried += 1) {
      const made = await runners.mint({ name: 'one', labels, group: 'Nightly' });
      assert.ok(made.kind === 'problem' && made.reason === 'Denied');
      assert.match(made.message, /acme has no runner group "Nightly".*only Default, Release/);
    }
    assert.equal(asked(github), 1);
    clock.advance(60_000);
    await runners.mint({ name: 'one', labels, group: 'Nightly' });
    assert.equal(asked(github), 2);
    assert.deepEqual(github.runners(), []);
  });

  test('a deleted group is dropped from the cache', async () => {
    const { github, service } = createHarness({ runnerGroups: [{ id: 7, name: 'Release' }] });
    const runners = service();
    await runners.mint({ name: 'one', labels, group: 'Release' });
    github.faults.calls.push({
      match: /generate-jitconfig/,
      times: 1,
      with: { status: 404, body: { message: 'Not Found' } },
    });
    const made = await runners.mint({ name: 'two', labels, group: 'Release' });
    assert.ok(made.kind === 'problem' && made.reason === 'Denied');
    assert.match(made.message, /the runner group Release/);
    await runners.mint({ name: 'two', labels, group: 'Release' });
    assert.equal(asked(github), 2);
  });

  test('do not exist for repositories', async () => {
    const { github, service } = createHarness();
    const made = await service({ owner: repository }).mint({ name: 'one', labels, group: 'Release' });
    assert.ok(made.kind === 'problem' && made.reason === 'Denied');
    assert.match(made.message, /Leave the runner group out/);
    assert.deepEqual(github.requests, []);
  });
});
