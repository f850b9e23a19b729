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
  const stage = await createHarness(t);
  Object.assign(stage.settings, { builder: builderArtifacts });
  await stage.start();
  return stage;
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
    const stage = await createBuilderHarness(t);
    stage.work.next(registers);
    await stage.living(spec);
    assert.deepEqual(stage.runners.asked, ['token']);
    assert.equal((await stage.status()).initialization?.provisioned, true);
    // A roll, and a Node that is gone: the runner is registered already.
    Object.assign(stage.settings, { ...hostSettingsWith('agent-2'), builder: builderArtifacts });
    await stage.patchMachine({ metadata: { annotations: { poke: '2' } } });
    await stage.giveTurn();
    await stage.removeNode();
    await stage.pass(5);
    assert.ok(stage.work.jobs.length >= 3);
    assert.equal(stage.runners.asked.filter((what) => what === 'token').length, 1);
  });

  it('stays incomplete while GitHub gives no token, without counting an attempt or losing the Mac', async (t) => {
    const stage = await createBuilderHarness(t);
    stage.runners.token = { kind: 'problem', message: 'GitHub does not answer.' };
    stage.work.next(...Array.from({ length: 12 }, () => registers));
    await stage.claimed(spec);
    assert.deepEqual(await stage.condition('Bootstrapped'), {
      status: 'False',
      reason: 'GHRunnerRegistrationTokenUnavailable',
      message: 'GitHub does not answer.',
    });
    await stage.pass(40);
    const status = await stage.status();
    assert.equal(status.lastAttempt?.count, 0);
    assert.notEqual(status.initialization?.provisioned, true);
    assert.equal((await stage.host()).spec.release, undefined);
    assert.ok((await stage.events()).includes('GHRunnerRegistrationTokenUnavailable'));
    const { length } = stage.runners.asked;
    assert.ok(length > 2 && length < 12, `${length}`);

    stage.runners.token = { kind: 'known', token: createSecret('AABB') };
    await stage.pass(6);
    assert.equal((await stage.status()).initialization?.provisioned, true);
  });

  it('does not disturb a Pod that was scheduled meanwhile', async (t) => {
    const stage = await createBuilderHarness(t);
    stage.runners.token = { kind: 'problem', message: 'GitHub does not answer.' };
    stage.work.next(registers);
    await stage.claimed(spec);
    await stage.addNode();
    await stage.addPod();
    await stage.pass(6);
    const { task } = stage.work.jobs.at(-1) ?? {};
    assert.ok(stage.work.jobs.length > 1 && task?.kind === 'converge');
    assert.equal(task.idle, false);
  });
});

describe('roll of a builder', () => {
  /** A builder that has a turn. */
  const drifting = async (t: TestContext, seen: Harness['runners']['seen']): Promise<Harness> => {
    const stage = await createBuilderHarness(t);
    await stage.living(spec);
    stage.runners.seen = seen;
    Object.assign(stage.settings, { ...hostSettingsWith('agent-2'), builder: builderArtifacts });
    await stage.patchMachine({ metadata: { annotations: { poke: '2' } } });
    await stage.patchNode({ spec: { unschedulable: true } });
    await stage.giveTurn();
    return stage;
  };
  const mayDisturb = (stage: Harness): boolean | undefined => {
    const { task } = stage.work.jobs.at(-1) ?? {};
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
      const stage = await drifting(t, seen);
      assert.equal(stage.work.jobs.length, 2);
      assert.equal(mayDisturb(stage), may);
    });
});

describe('deletion of a builder', () => {
  const living = async (t: TestContext): Promise<Harness> => {
    const stage = await createBuilderHarness(t);
    await stage.living(spec);
    assert.deepEqual(stage.runners.asked, [], 'nobody asks while it lives');
    stage.runners.seen = { kind: 'there', id: 7, isBusy: false };
    return stage;
  };
  const isReleased = async (stage: Harness): Promise<boolean> =>
    (await stage.hostIfExists())?.spec.release !== undefined;

  it('removes its idle runner at GitHub before the release', async (t) => {
    const stage = await living(t);
    await stage.deleteMachine();
    assert.deepEqual(stage.runners.asked, ['look', 'remove 7', 'look']);
    assert.ok(await isReleased(stage));
    await stage.beginWipe();
    assert.equal(await stage.getIfExists(), undefined);
    assert.deepEqual(stage.runners.asked, ['look', 'remove 7', 'look'], 'and asks no more');
  });

  it('waits for the job of its runner, and reports it', async (t) => {
    const stage = await living(t);
    stage.runners.seen = { kind: 'there', id: 7, isBusy: true };
    await stage.deleteMachine();
    await stage.pass(120);
    assert.ok(!(await isReleased(stage)));
    const said = await stage.condition('Deleting');
    assert.equal(said?.reason, 'Releasing');
    assert.match(said.message, /has a job at GitHub/);
    assert.equal((await stage.status()).phase, 'Deleting');
    stage.runners.seen = { kind: 'there', id: 7, isBusy: false };
    await stage.pass(1);
    assert.ok(await isReleased(stage));
  });

  it('waits when a job started before the removal', async (t) => {
    const stage = await living(t);
    stage.runners.refusal = { kind: 'there', id: 7, isBusy: true };
    await stage.deleteMachine();
    await stage.pass(5);
    assert.ok(!(await isReleased(stage)));
    stage.runners.refusal = undefined;
    stage.runners.seen = { kind: 'there', id: 7, isBusy: false };
    await stage.pass(1);
    assert.ok(await isReleased(stage));
  });

  it('proceeds without GitHub after ten minutes, and reports the runner left there', async (t) => {
    const stage = await living(t);
    stage.runners.seen = { kind: 'unknown', message: 'GitHub does not answer.' };
    await stage.deleteMachine();
    await stage.pass(9);
    assert.ok(!(await isReleased(stage)));
    assert.match((await stage.condition('Deleting'))?.message ?? '', /GitHub does not answer/);
    await stage.pass(2);
    assert.ok(await isReleased(stage));
    const text = await stage.eventText('Releasing');
    assert.match(text, /still on the list at GitHub.*14 days.*GitHub does not answer/);
    assert.ok(stage.lines.some((line) => line.includes('GitHub still lists the runner')));
  });

  it('waits longer when the runner had a job when GitHub was last reachable', async (t) => {
    const stage = await living(t);
    stage.runners.seen = { kind: 'there', id: 7, isBusy: true };
    await stage.deleteMachine();
    await stage.pass(1);
    stage.runners.seen = { kind: 'unknown', message: 'GitHub does not answer.' };
    await stage.pass(60);
    assert.ok(!(await isReleased(stage)));
  });

  it('continues after a crash between the removal and the release', async (t) => {
    const stage = await living(t);
    const { remove } = stage.runners;
    stage.runners.remove = async (...given) => {
      await remove(...given);
      throw new Error('the process dies here');
    };
    await stage.deleteMachine();
    stage.runners.remove = remove;
    await stage.restart();
    await stage.pass(1);
    assert.ok(await isReleased(stage));
  });

  it('is not blocked when no GitHub App is configured', async (t) => {
    const stage = await createBuilderHarness(t);
    await stage.living({ ghActionsRunner: { ghOrg: 'acme', ghRunnerLabels: 'macos,test' } });
    await stage.deleteMachine();
    assert.ok(await isReleased(stage));
    assert.deepEqual(stage.runners.asked, []);
  });
});
