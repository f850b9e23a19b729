import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { inTheGuest, labels, runnerBusyCondition, secretKeys } from '@tartan/api';
import { createRunnerService, readGitHubApp, type RunnerService } from '@tartan/github';
import { secrets } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { type SimulatedGitHub, startGitHub } from '@tartan/sim-github';
import { openSwitchboard, runnerGuest, type Switchboard } from '../../packages/cli/src/simulation/runner-guest.ts';
import { endOf, processOf, waitsFor } from '../../packages/tart-kubelet/src/agent/testing/looks.ts';
import { hasEnded, image, onMac, type Stage } from '../../packages/tart-kubelet/src/agent/testing/stage.ts';
import { eventually } from '../../packages/tart-kubelet/src/runs/testing/eventually.ts';

type Seen = Awaited<ReturnType<Stage['seen']>>;

const wanted = ['macos'];
const conditionOf = (pod: Seen): string | undefined =>
  pod?.status?.conditions?.find(({ type }) => type === runnerBusyCondition)?.status;
const says = (word: string) => (pod: Seen) => conditionOf(pod) === word;

/** The agent, the script of the image, and GitHub: all that a job passes through but for the controller, which this test plays. */
describe('a runner on a Mac', { timeout: 120_000 }, () => {
  let folder: string;
  let github: SimulatedGitHub;
  let service: RunnerService;
  let switchboard: Switchboard;
  let work: PromiseWithResolvers<string>;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'runner-'));
    github = await startGitHub();
    const keys = secretKeys.githubApp;
    const encode = (text: string | number): string => Buffer.from(String(text)).toString('base64');
    const app = readGitHubApp({
      [keys.appID]: encode(github.app.id),
      [keys.installationID]: encode(7001),
      [keys.privateKey]: encode(github.app.privateKey),
    });
    if ('problem' in app) throw new Error(app.problem);
    const owner = { kind: 'organization', organization: 'acme' } as const;
    service = createRunnerService({ app, owner, clock: systemClock, apiURL: github.url });
    work = Promise.withResolvers();
    switchboard = await openSwitchboard({
      folder: join(folder, 'switchboard'),
      url: github.url,
      work: async (_job, signal) => {
        const killed = new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('killed')));
        return Promise.race([work.promise, killed]);
      },
    });
  });
  afterEach(async () => {
    await switchboard.close();
    await github.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = async (stage: Stage) => {
    stage.tart.controls.guest('_', { program: runnerGuest(switchboard.folder, ':') });
    stage.start();
    return stage.pod((spec, pod) => {
      const { name = '' } = pod.metadata ?? {};
      const share = inTheGuest.shares.runner;
      pod.metadata = { ...pod.metadata, labels: { [labels.runner]: 'true' } };
      spec.containers = [{ name: 'runner', image, volumeMounts: [{ name: share, mountPath: '/runner' }] }];
      spec.volumes = [{ name: share, projected: { sources: [{ secret: { name } }] } }];
    });
  };
  /** What the controller does once the Pod is bound. Answers the number at GitHub. */
  const register = async (stage: Stage, name: string): Promise<{ readonly id: number; readonly secret: string }> => {
    const minted = await service.mint({ name, labels: wanted, group: undefined });
    if (minted.kind !== 'minted') throw new Error(`not minted: ${JSON.stringify(minted)}`);
    const secret = minted.jitConfig.reveal();
    await stage.admin.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'runners' },
      stringData: { [secretKeys.runner.jitConfig]: secret },
    });
    return { id: minted.id, secret };
  };
  /** Bound, and waiting for a job. */
  const warm = async (stage: Stage) => {
    const pod = await start(stage);
    const waiting = await stage.until(pod, 'waits', (seen) => waitsFor(seen) === 'CreateContainerConfigError');
    assert.equal(conditionOf(waiting), 'Unknown');
    const registered = await register(stage, pod.metadata.name);
    await stage.until(pod, 'waits for a job', says('False'));
    return { pod, ...registered };
  };
  const queue = () => github.queueJob({ repository: 'acme/app', labels: wanted, name: 'build' });

  it('waits for its configuration, takes one job, says so while it lasts, and ends with it', () =>
    onMac(
      async (stage) => {
        const { pod, secret } = await warm(stage);
        const job = queue();
        await stage.until(pod, 'has a job', says('True'));
        assert.equal(job.status, 'in_progress');
        work.resolve('success');
        const ended = await stage.until(pod, 'has ended', hasEnded);
        assert.deepEqual(
          [ended.status?.phase, endOf(ended)?.exitCode, endOf(ended)?.reason],
          ['Succeeded', 0, 'Completed'],
        );
        assert.deepEqual([conditionOf(ended), job.conclusion, github.lostJobs()], ['True', 'success', []]);
        const log = readFileSync(join(stage.folder, 'logs', pod.metadata.uid, 'runner', '0.log'), 'utf8');
        assert.match(log, /Running job: build/);
        assert.ok(!`${log}${stage.logs.join('')}`.includes(secret));
        await eventually('nobody is at the switchboard', () => switchboard.count() === 0);
      },
      { speed: 20 },
    ));

  it('that is removed at GitHub while it waits ends by itself, and has had no job', () =>
    onMac(
      async (stage) => {
        const { pod, id } = await warm(stage);
        assert.equal((await service.remove(id)).kind, 'removed');
        const ended = await stage.until(pod, 'has ended', hasEnded);
        assert.deepEqual([ended.status?.phase, conditionOf(ended)], ['Succeeded', 'False']);
      },
      { speed: 20 },
    ));

  it('whose power is cut takes its job with it, and GitHub hears nothing more of it', () =>
    onMac(
      async (stage) => {
        const { pod } = await warm(stage);
        const job = queue();
        await stage.until(pod, 'has a job', says('True'));
        const { pid = 0 } = (await processOf(stage, pod)) ?? {};
        process.kill(pid, 'SIGINT');
        const ended = await stage.until(pod, 'has ended', hasEnded);
        assert.deepEqual([ended.status?.phase, conditionOf(ended)], ['Failed', 'True']);
        await eventually('nobody is at the switchboard', () => switchboard.count() === 0);
        assert.equal(job.status, 'in_progress');
        // Here the guest is a few processes, which a cut of its power leaves: its script would try to shut it down for ever.
        try {
          process.kill(-pid, 'SIGKILL');
        } catch {
          // It was faster.
        }
      },
      { speed: 20 },
    ));
});
