import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createSecret } from '@tartan/kube';
import type { HostJob, WorkOutcome } from '../host-work/host-work.ts';
import { builderArtifacts, doneOutcome, hostSettingsWith } from './testing/fakes.ts';
import { createHarness, type Harness } from './testing/harness.ts';

const spec = {
  ghActionsRunner: { ghOrg: 'acme', ghRunnerLabels: 'macos,test', ghAppSecretName: 'github-app' },
} as const;

const createBuilderHarness = async (t: TestContext): Promise<Harness> => {
  const harness = await createHarness(t);
  Object.assign(harness.settings, { builder: builderArtifacts });
  await harness.start();
  return harness;
};

/** A Mac whose runner must register. The first contact pins its host key. */
const registers = async (job: HostJob): Promise<WorkOutcome> => {
  if (job.pinnedHostKey === undefined) await job.pin('SHA256:first');
  const { task } = job;
  const answer = task.kind === 'converge' ? await task.onDemandSecrets?.actionsRunnerToken?.(undefined) : undefined;
  if (answer?.kind === 'known') return doneOutcome(job);
  return doneOutcome(job, { summary: 'without a runner', optionalFailures: ['Could not run GitHub Actions.'] });
};

describe('bootstrap of a builder', () => {
  it('requests a runner token only when the Mac needs one', async (t) => {
    const harness = await createBuilderHarness(t);
    harness.work.next(registers);
    await harness.living(spec);
    assert.deepEqual(harness.runners.asked, ['token']);
    assert.equal((await harness.status()).initialization?.provisioned, true);
    // A roll, and a Node that is gone: the runner is registered already.
    Object.assign(harness.settings, { ...hostSettingsWith('agent-2'), builder: builderArtifacts });
    await harness.patchMachine({ metadata: { annotations: { poke: '2' } } });
    await harness.giveTurn();
    await harness.removeNode();
    await harness.pass(5);
    assert.ok(harness.work.jobs.length >= 3);
    assert.equal(harness.runners.asked.filter((what) => what === 'token').length, 1);
  });

  it('stays incomplete while GitHub gives no token, without counting an attempt or losing the Mac', async (t) => {
    const harness = await createBuilderHarness(t);
    harness.runners.token = { kind: 'problem', message: 'GitHub does not answer.' };
    harness.work.next(...Array.from({ length: 12 }, () => registers));
    await harness.claimed(spec);
    assert.deepEqual(await harness.condition('Bootstrapped'), {
      status: 'False',
      reason: 'GHRunnerRegistrationTokenUnavailable',
      message: 'GitHub does not answer.',
    });
    await harness.pass(40);
    const status = await harness.status();
    assert.equal(status.lastAttempt?.count, 0);
    assert.notEqual(status.initialization?.provisioned, true);
    assert.equal((await harness.host()).spec.release, undefined);
    assert.ok((await harness.events()).includes('GHRunnerRegistrationTokenUnavailable'));
    const { length } = harness.runners.asked;
    assert.ok(length > 2 && length < 12, `${length}`);

    harness.runners.token = { kind: 'known', token: createSecret('AABB') };
    await harness.pass(6);
    assert.equal((await harness.status()).initialization?.provisioned, true);
  });

  it('does not disturb a Pod that was scheduled meanwhile', async (t) => {
    const harness = await createBuilderHarness(t);
    harness.runners.token = { kind: 'problem', message: 'GitHub does not answer.' };
    harness.work.next(registers);
    await harness.claimed(spec);
    await harness.addNode();
    await harness.addPod();
    await harness.pass(6);
    const { task } = harness.work.jobs.at(-1) ?? {};
    assert.ok(harness.work.jobs.length > 1 && task?.kind === 'converge');
    assert.equal(task.idle, false);
  });
});

describe('roll of a builder', () => {
  /** A builder that has a turn. */
  const drifting = async (t: TestContext, seen: Harness['runners']['seen']): Promise<Harness> => {
    const harness = await createBuilderHarness(t);
    await harness.living(spec);
    harness.runners.seen = seen;
    Object.assign(harness.settings, { ...hostSettingsWith('agent-2'), builder: builderArtifacts });
    await harness.patchMachine({ metadata: { annotations: { poke: '2' } } });
    await harness.patchNode({ spec: { unschedulable: true } });
    await harness.giveTurn();
    return harness;
  };
  const mayDisturb = (harness: Harness): boolean | undefined => {
    const { task } = harness.work.jobs.at(-1) ?? {};
    return task?.kind === 'converge' ? task.idle : undefined;
  };
  const rows: readonly [string, Harness['runners']['seen'], boolean][] = [
    ['has no job', { kind: 'there', id: 7, isBusy: false }, true],
    ['is not at GitHub', { kind: 'none' }, true],
    ['has a job', { kind: 'there', id: 7, isBusy: true }, false],
    ['is not known to have none', { kind: 'unknown', message: 'GitHub does not answer.' }, false],
  ];
  for (const [what, seen, may] of rows)
    it(`${may ? 'may be' : 'is not'} disturbed while its runner ${what}`, async (t) => {
      const harness = await drifting(t, seen);
      assert.equal(harness.work.jobs.length, 2);
      assert.equal(mayDisturb(harness), may);
    });
});

describe('deletion of a builder', () => {
  const living = async (t: TestContext): Promise<Harness> => {
    const harness = await createBuilderHarness(t);
    await harness.living(spec);
    assert.deepEqual(harness.runners.asked, [], 'nobody asks while it lives');
    harness.runners.seen = { kind: 'there', id: 7, isBusy: false };
    return harness;
  };
  const isReleased = async (harness: Harness): Promise<boolean> =>
    (await harness.hostIfExists())?.spec.release !== undefined;

  it('removes its idle runner at GitHub before the release', async (t) => {
    const harness = await living(t);
    await harness.deleteMachine();
    assert.deepEqual(harness.runners.asked, ['look', 'remove 7', 'look']);
    assert.ok(await isReleased(harness));
    await harness.beginWipe();
    assert.equal(await harness.getIfExists(), undefined);
    assert.deepEqual(harness.runners.asked, ['look', 'remove 7', 'look'], 'and asks no more');
  });

  it('waits for the job of its runner, and reports it', async (t) => {
    const harness = await living(t);
    harness.runners.seen = { kind: 'there', id: 7, isBusy: true };
    await harness.deleteMachine();
    await harness.pass(120);
    assert.ok(!(await isReleased(harness)));
    const said = await harness.condition('Deleting');
    assert.equal(said?.reason, 'Releasing');
    assert.match(said.message, /has a job at GitHub/);
    assert.equal((await harness.status()).phase, 'Deleting');
    harness.runners.seen = { kind: 'there', id: 7, isBusy: false };
    await harness.pass(1);
    assert.ok(await isReleased(harness));
  });

  it('waits when a job started before the removal', async (t) => {
    const harness = await living(t);
    harness.runners.refusal = { kind: 'there', id: 7, isBusy: true };
    await harness.deleteMachine();
    await harness.pass(5);
    assert.ok(!(await isReleased(harness)));
    harness.runners.refusal = undefined;
    harness.runners.seen = { kind: 'there', id: 7, isBusy: false };
    await harness.pass(1);
    assert.ok(await isReleased(harness));
  });

  it('proceeds without GitHub after ten minutes, and reports the runner left there', async (t) => {
    const harness = await living(t);
    harness.runners.seen = { kind: 'unknown', message: 'GitHub does not answer.' };
    await harness.deleteMachine();
    await harness.pass(9);
    assert.ok(!(await isReleased(harness)));
    assert.match((await harness.condition('Deleting'))?.message ?? '', /GitHub does not answer/);
    await harness.pass(2);
    assert.ok(await isReleased(harness));
    const text = await harness.eventText('Releasing');
    assert.match(text, /still on the list at GitHub.*14 days.*GitHub does not answer/);
    assert.ok(harness.lines.some((line) => line.includes('GitHub still lists the runner')));
  });

  it('waits longer when the runner had a job when GitHub was last reachable', async (t) => {
    const harness = await living(t);
    harness.runners.seen = { kind: 'there', id: 7, isBusy: true };
    await harness.deleteMachine();
    await harness.pass(1);
    harness.runners.seen = { kind: 'unknown', message: 'GitHub does not answer.' };
    await harness.pass(60);
    assert.ok(!(await isReleased(harness)));
  });

  it('continues after a crash between the removal and the release', async (t) => {
    const harness = await living(t);
    const { remove } = harness.runners;
    harness.runners.remove = async (...given) => {
      await remove(...given);
      throw new Error('the process dies here');
    };
    await harness.deleteMachine();
    harness.runners.remove = remove;
    await harness.restart();
    await harness.pass(1);
    assert.ok(await isReleased(harness));
  });

  it('is not blocked when no GitHub App is configured', async (t) => {
    const harness = await createBuilderHarness(t);
    await harness.living({ ghActionsRunner: { ghOrg: 'acme', ghRunnerLabels: 'macos,test' } });
    await harness.deleteMachine();
    assert.ok(await isReleased(harness));
    assert.deepEqual(harness.runners.asked, []);
  });
});
