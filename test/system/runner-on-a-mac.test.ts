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

  const start = async (harness: Harness) => {
    harness.tart.controls.guest('_', { program: runnerGuestScript(bridge.folder, ':') });
    harness.startAgent();
    return harness.pod((spec, pod) => {
      const { name = '' } = pod.metadata ?? {};
      const share = guestNames.shares.runner;
      pod.metadata = { ...pod.metadata, labels: { [labels.runner]: 'true' } };
      spec.containers = [{ name: 'runner', image, volumeMounts: [{ name: share, mountPath: '/runner' }] }];
      spec.volumes = [{ name: share, projected: { sources: [{ secret: { name } }] } }];
    });
  };
  /** What the controller does once the Pod is bound. Returns the id at GitHub. */
  const register = async (
    harness: Harness,
    name: string,
  ): Promise<{ readonly id: number; readonly secret: string }> => {
    const minted = await service.mint({ name, labels: wanted, group: undefined });
    if (minted.kind !== 'minted') throw new Error(`not minted: ${JSON.stringify(minted)}`);
    const secret = minted.jitConfig.reveal();
    await harness.admin.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'runners' },
      stringData: { [secretKeys.runner.jitConfig]: secret },
    });
    return { id: minted.id, secret };
  };
  /** Bound, and idle. */
  const warm = async (harness: Harness) => {
    const pod = await start(harness);
    const waiting = await harness.waitForPod(
      pod,
      'waits',
      (seen) => waitingReason(seen) === 'CreateContainerConfigError',
    );
    assert.equal(conditionOf(waiting), 'Unknown');
    const registered = await register(harness, pod.metadata.name);
    await harness.waitForPod(pod, 'waits for a job', says('False'));
    return { pod, ...registered };
  };
  const queue = () => github.queueJob({ repository: 'acme/app', labels: wanted, name: 'build' });

  it('waits for its configuration, runs one job, reports it, and ends with it', () =>
    withMac(
      async (harness) => {
        const { pod, secret } = await warm(harness);
        const job = queue();
        await harness.waitForPod(pod, 'has a job', says('True'));
        assert.equal(job.status, 'in_progress');
        work.resolve('success');
        const ended = await harness.waitForPod(pod, 'has ended', hasEnded);
        assert.deepEqual(
          [ended.status?.phase, terminatedState(ended)?.exitCode, terminatedState(ended)?.reason],
          ['Succeeded', 0, 'Completed'],
        );
        assert.deepEqual([conditionOf(ended), job.conclusion, github.lostJobs()], ['True', 'success', []]);
        const log = readFileSync(join(harness.folder, 'logs', pod.metadata.uid, 'runner', '0.log'), 'utf8');
        assert.match(log, /Running job: build/);
        assert.ok(!`${log}${harness.logs.join('')}`.includes(secret));
        await eventually('no runner is connected', () => bridge.count() === 0);
      },
      { speed: 20 },
    ));

  it('that is removed at GitHub while it waits ends by itself, without a job', () =>
    withMac(
      async (harness) => {
        const { pod, id } = await warm(harness);
        assert.equal((await service.remove(id)).kind, 'removed');
        const ended = await harness.waitForPod(pod, 'has ended', hasEnded);
        assert.deepEqual([ended.status?.phase, conditionOf(ended)], ['Succeeded', 'False']);
      },
      { speed: 20 },
    ));

  it('whose power is cut loses its job, and GitHub gets no more reports', () =>
    withMac(
      async (harness) => {
        const { pod } = await warm(harness);
        const job = queue();
        await harness.waitForPod(pod, 'has a job', says('True'));
        const { pid = 0 } = (await processOf(harness, pod)) ?? {};
        process.kill(pid, 'SIGINT');
        const ended = await harness.waitForPod(pod, 'has ended', hasEnded);
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
