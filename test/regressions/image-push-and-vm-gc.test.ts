import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { machine } from '@tartan/api';
import { type Live, pods } from '@tartan/kube';
import { eventually } from '@tartan/kube/testing';
import { agentLaunchdJob } from '../../packages/host/src/agent/job.ts';
import { renderPlist } from '../../packages/host/src/launchd-plist.ts';
import { hostSpecOf } from '../../packages/provider/src/host-work/host-spec.ts';
import { exampleSettings } from '../../packages/provider/src/host-work/testing/example-settings.ts';
import { type Harness, isGone, isRunning, withMac } from '../../packages/tart-kubelet/src/agent/testing/harness.ts';
import { vmNameOf } from '../../packages/tart-kubelet/src/agent/testing/pod-checks.ts';
import type { Pod } from '../../packages/tart-kubelet/src/pods/snapshot.ts';

/** What the builder bakes: tart on the host created it, without any Pod. */
const bake = 'tuist-runner';
/** Five minutes of the garbage collector are half a second. */
const speed = 600;

const vms = (harness: Harness): string[] => readdirSync(join(harness.tart.home, 'vms')).toSorted();
const deleted = (harness: Harness): string[] =>
  harness.tart.journal.calls('delete').map(({ argv }) => argv.at(-1) ?? '');

interface Push {
  /** Config is uploaded, and the disk is being uploaded. */
  readonly atDisk: Promise<void>;
  /** Exit code and output. */
  readonly ended: Promise<{ code: unknown; said: string }>;
}

/** `tart push` like in the workflow of an image: config, then the disk for that long, then NVRAM. */
const push = (harness: Harness, diskMs: number): Push => {
  harness.tart.controls.host({ pushDiskMs: diskMs });
  const env = { PATH: process.env['PATH'], HOME: harness.folder, TART_HOME: harness.tart.home };
  const child = spawn(harness.tart.path, ['push', bake, 'ghcr.io/team/runner:1'], { env });
  let said = '';
  const atDisk = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('pushing disk')) atDisk.resolve();
    });
  const ended = once(child, 'close').then(([code]: unknown[]) => ({ code, said }));
  // After an earlier failure there is no further output.
  void ended.then(() => atDisk.resolve());
  return { atDisk: atDisk.promise, ended };
};

/** Deletes the Pod without its agent noticing: its virtual machine is left behind. */
const vanish = async (harness: Harness, pod: Live<Pod>): Promise<void> => {
  const { name, namespace = '' } = pod.metadata;
  const body = { metadata: { finalizers: null } };
  await harness.admin.patch(pods, { name, namespace }, { type: 'merge', body });
  await harness.deletePod(pod, 0);
  await harness.waitForPod(pod, 'is gone', isGone);
};

/** Pushes next to this agent, longer each time, until one push has spanned so many rounds of its garbage collector. */
const pushThrough = async (harness: Harness, rounds: () => number, wanted: number): Promise<void> => {
  for (let diskMs = 1500; ; diskMs *= 2) {
    const { atDisk, ended } = push(harness, diskMs);
    await atDisk;
    const before = rounds();
    const { code, said } = await ended;
    assert.equal(code, 0, said);
    assert.deepEqual(
      vms(harness).filter((name) => name === bake),
      [bake],
    );
    if (rounds() - before >= wanted) return;
  }
};

/** Starts the agent. Returns a function that counts the rounds of its garbage collector: only that lists Pods without its own timeout. */
const startCounting = (harness: Harness): (() => number) => {
  let rounds = 0;
  harness.startAgent((options) => ({
    ...options,
    client: {
      ...options.client,
      list: (resource, wanted) => {
        if (wanted?.deadlineMs === undefined) rounds += 1;
        return options.client.list(resource, wanted);
      },
    },
  }));
  return () => rounds;
};

describe('tuist/tuist#11072: image releases failed because the agent deleted the VM during its push', {
  timeout: 120_000,
}, () => {
  test('original: a bundle that is deleted while its disk is pushed has no nvram.bin when tart opens it', () =>
    withMac(async (harness) => {
      harness.tart.addVm(bake);
      const { atDisk, ended } = push(harness, 1000);
      await atDisk;
      await harness.driver.delete(bake);
      const { code, said } = await ended;
      assert.equal(code, 1);
      assert.match(said, /nvram\.bin” doesn’t exist/);
    }));

  test('a push survives several garbage collections, which delete only the orphan of the agent', () =>
    withMac(
      async (harness) => {
        harness.tart.addVm(bake);
        const rounds = startCounting(harness);
        const ours = await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
        await vanish(harness, ours);
        await pushThrough(harness, rounds, 3);
        await eventually('our orphan is gone', () => !vms(harness).includes(vmNameOf(ours)));
        assert.ok(deleted(harness).includes(vmNameOf(ours)));
        assert.ok(!deleted(harness).includes(bake));
        assert.ok(vms(harness).includes(bake));
      },
      { speed, disableVMGC: false },
    ));

  test('a stopped VM of a builder is not collected either', () =>
    withMac(
      async (harness) => {
        harness.tart.addVm(bake);
        const rounds = startCounting(harness);
        await eventually('the collector has looked often', () => rounds() >= 5);
        assert.ok(vms(harness).includes(bake));
        assert.deepEqual(deleted(harness), []);
      },
      { speed, disableVMGC: false },
    ));

  test('with --disable-vm-gc there is no collector, whatever time passes', () =>
    withMac(
      async (harness) => {
        harness.tart.addVm(bake);
        const rounds = startCounting(harness);
        const pod = await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
        const { code, said } = await push(harness, 1500).ended;
        assert.equal(code, 0, said);
        assert.equal(rounds(), 0);
        assert.deepEqual(deleted(harness), []);
        assert.deepEqual(vms(harness).filter((name) => name === bake || name === vmNameOf(pod)).length, 2);
      },
      { speed, disableVMGC: true },
    ));

  const facts = { user: 'm1', joinVersion: 'abcdef', tailscaleKeyVersion: '7' };
  const plistOf = (spec: Parameters<typeof machine.make>[0]['spec'], release = 'first'): string => {
    const made = machine.make({ metadata: { name: 'mac-1', namespace: 'macs' }, spec });
    const { agent } = exampleSettings;
    const settings = { ...exampleSettings, agent: { ...agent, release: { ...agent.release, sha256: release } } };
    const outcome = hostSpecOf({ ...made, status: { serverID: '1111' } }, facts, settings);
    assert.ok(outcome.kind === 'specified', JSON.stringify(outcome));
    return renderPlist(agentLaunchdJob(outcome.spec));
  };

  test('builders get --disable-vm-gc at bootstrap and in every rollout; other Macs do not', () => {
    const builder = { fleetName: 'builders', ghActionsRunner: { ghOrg: 'team', ghRunnerLabels: 'macos,production' } };
    for (const release of ['first', 'rolled']) {
      assert.match(plistOf(builder, release), /<string>--disable-vm-gc<\/string>/);
      assert.doesNotMatch(plistOf({ fleetName: 'macos' }, release), /disable-vm-gc/);
    }
  });
});
