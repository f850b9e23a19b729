import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { guestNames, labels, runnerBusyCondition, secretKeys } from '@tartan/api';
import { createRunnerService, readGitHubApp, type RunnerService } from '@tartan/github';
import { secrets } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { openRunnerBridge, type RunnerBridge, runnerGuestScript } from '@tartan/sim-fleet';
import { type SimulatedGitHub, startGitHub } from '@tartan/sim-github';
import { type Harness, hasEnded, image, withMac } from '../../packages/tart-kubelet/src/agent/testing/harness.ts';
import { processOf, terminatedState, waitingReason } from '../../packages/tart-kubelet/src/agent/testing/pod-checks.ts';

type Seen = Awaited<ReturnType<Harness['getPod']>>;

const wanted = ['macos'];
const conditionOf = (pod: Seen): string | undefined =>
  pod?.status?.conditions?.find(({ type }) => type === runnerBusyCondition)?.status;
const says = (word: string) => (pod: Seen) => conditionOf(pod) === word;

/** The agent, the script of the image, and GitHub: everything that a job passes through except the controller, which this test plays. */
describe('a runner on a Mac', { timeout: 120_000 }, () => {
  let folder: string;
  let github: SimulatedGitHub;
  let service: RunnerService;
  let bridge: RunnerBridge;
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
    bridge = await openRunnerBridge({
      folder: join(folder, 'runner-bridge'),
      url: github.url,
      work: async (_job, signal) => {
        const killed = new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('killed')));
        return Promise.race([work.promise, killed]);
      },
    });
  });
  afterEach(async () => {
    await bridge.close();
    await github.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = async (stage: Harness) => {
    stage.tart.controls.guest('_', { program: runnerGuestScript(bridge.folder, ':') });
    stage.startAgent();
    return stage.pod((spec, pod) => {
      const { name = '' } = pod.metadata ?? {};
      const share = guestNames.shares.runner;
      pod.metadata = { ...pod.metadata, labels: { [labels.runner]: 'true' } };
      spec.containers = [{ name: 'runner', image, volumeMounts: [{ name: share, mountPath: '/runner' }] }];
      spec.volumes = [{ name: share, projected: { sources: [{ secret: { name } }] } }];
    });
  };
  /** What the controller does once the Pod is bound. Returns the id at GitHub. */
  const register = async (stage: Harness, name: string): Promise<{ readonly id: number; readonly secret: string }> => {
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
  /** Bound, and idle. */
  const warm = async (stage: Harness) => {
    const pod = await start(stage);
    const waiting = await stage.waitForPod(
      pod,
      'waits',
      (seen) => waitingReason(seen) === 'CreateContainerConfigError',
    );
    assert.equal(conditionOf(waiting), 'Unknown');
    const registered = await register(stage, pod.metadata.name);
    await stage.waitForPod(pod, 'waits for a job', says('False'));
    return { pod, ...registered };
  };
  const queue = () => github.queueJob({ repository: 'acme/app', labels: wanted, name: 'build' });

  it('waits for its configuration, takes one job, says so while it lasts, and ends with it', () =>
    withMac(
      async (stage) => {
        const { pod, secret } = await warm(stage);
        const job = queue();
        await stage.waitForPod(pod, 'has a job', says('True'));
        assert.equal(job.status, 'in_progress');
        work.resolve('success');
        const ended = await stage.waitForPod(pod, 'has ended', hasEnded);
        assert.deepEqual(
          [ended.status?.phase, terminatedState(ended)?.exitCode, terminatedState(ended)?.reason],
          ['Succeeded', 0, 'Completed'],
        );
        assert.deepEqual([conditionOf(ended), job.conclusion, github.lostJobs()], ['True', 'success', []]);
        const log = readFileSync(join(stage.folder, 'logs', pod.metadata.uid, 'runner', '0.log'), 'utf8');
        assert.match(log, /Running job: build/);
        assert.ok(!`${log}${stage.logs.join('')}`.includes(secret));
        await eventually('no runner is connected', () => bridge.count() === 0);
      },
      { speed: 20 },
    ));

  it('that is removed at GitHub while it waits ends by itself, and has had no job', () =>
    withMac(
      async (stage) => {
        const { pod, id } = await warm(stage);
        assert.equal((await service.remove(id)).kind, 'removed');
        const ended = await stage.waitForPod(pod, 'has ended', hasEnded);
        assert.deepEqual([ended.status?.phase, conditionOf(ended)], ['Succeeded', 'False']);
      },
      { speed: 20 },
    ));

  it('whose power is cut takes its job with it, and GitHub hears nothing more of it', () =>
    withMac(
      async (stage) => {
        const { pod } = await warm(stage);
        const job = queue();
        await stage.waitForPod(pod, 'has a job', says('True'));
        const { pid = 0 } = (await processOf(stage, pod)) ?? {};
        process.kill(pid, 'SIGINT');
        const ended = await stage.waitForPod(pod, 'has ended', hasEnded);
        assert.deepEqual([ended.status?.phase, conditionOf(ended)], ['Failed', 'True']);
        await eventually('no runner is connected', () => bridge.count() === 0);
        assert.equal(job.status, 'in_progress');
        // Here the guest is a few processes, which survive a cut of its power: its script would try to shut it down forever.
        try {
          process.kill(-pid, 'SIGKILL');
        } catch {
          // It has already ended.
        }
      },
      { speed: 20 },
    ));
});
