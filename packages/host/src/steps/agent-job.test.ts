import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Mac } from '@tartan/sim-mac';
import { agentArguments, agentLaunchdJob as jobOf, agentLog, agentReleaseID } from '../agent/job.ts';
import type { Agent, HostSpec } from '../host-spec.ts';
import { renderPlist } from '../launchd-plist.ts';
import { cutEverywhere } from '../testing/crash-injection.ts';
import { exampleSpec } from '../testing/example-spec.ts';
import { type FreshMacs, freshMacs } from '../testing/fresh-macs.ts';
import { prepareAgent, rollAgent } from '../testing/roll-agent.ts';
import { runStep } from '../testing/run-step.ts';
import { agentEvents, agentsSay, brokenRuntime, standInAgent, standInRuntime } from '../testing/stand-in-agent.ts';
import { agentJob } from './agent.ts';

const label = 'dev.tuist.tart-kubelet';
const plistFile = `/Library/LaunchDaemons/${label}.plist`;
const provenFile = '/var/db/tartan/agent-proven';
const stampFile = '/var/db/tartan/steps/agent-job';

describe('the agent’s job', { concurrency: 2 }, () => {
  let macs: FreshMacs;
  let v1: HostSpec;
  let v2: HostSpec;

  const withAgent = (spec: HostSpec, change: Partial<Agent>): HostSpec => ({
    ...spec,
    agent: { ...spec.agent, ...change },
  });
  const code = (version: string): Partial<Agent> => ({ release: standInAgent(macs.folder, version) });

  before(() => {
    macs = freshMacs();
    const { ghActionsRunner: _, ...spec } = exampleSpec(macs.folder);
    v1 = withAgent(spec, { runtime: standInRuntime(macs.folder, 'v26.10.0'), ...code('v1') });
    v2 = withAgent(v1, code('v2'));
  });
  after(() => macs.stopAll());

  const started = async (spec: HostSpec): Promise<Mac> => {
    const mac = await macs.start();
    const { code: exit, stderr } = await rollAgent(mac, spec);
    assert.equal(exit, 0, stderr);
    await agentsHaveSaid(mac, 1);
    return mac;
  };

  const currentOf = (mac: Mac): string => readlinkSync(mac.path('/usr/local/lib/tart-kubelet/current'));
  const plistOf = (mac: Mac): string => readFileSync(mac.path(plistFile), 'utf8');
  const registrations = (mac: Mac): number =>
    mac.journal.entries.filter(({ what, detail }) => what === 'launchd.bootstrap' && detail.startsWith(label)).length;
  const ran = (version: string, spec: HostSpec): unknown => ({
    version,
    event: 'ran',
    arguments: agentArguments(spec),
  });

  const agentsHaveSaid = (mac: Mac, count: number) => agentsSay(mac, ({ length }) => length >= count);
  /** Without repetitions: on a busy machine an agent may stay up only after the second kickstart. */
  const agentsHaveRun = async (mac: Mac, count: number) =>
    (await agentsHaveSaid(mac, count)).filter((said, at, all) => !isDeepStrictEqual(said, all[at - 1]));
  /** The agent that started last is this one, and it stayed up. */
  const runsLast = (mac: Mac, version: string, spec: HostSpec): Promise<unknown> =>
    agentsSay(mac, (events) => isDeepStrictEqual(events.at(-1), ran(version, spec)));

  const assertRuns = (mac: Mac, spec: HostSpec): void => {
    assert.equal(mac.job(label)?.state, 'running');
    assert.equal(currentOf(mac), `releases/${agentReleaseID(spec)}`);
    assert.equal(plistOf(mac), renderPlist(jobOf(spec)));
  };

  /** Invariant 8: code never ran with the arguments of another release. */
  const assertNeverSkewed = (mac: Mac, known: Readonly<Record<string, HostSpec>>): void => {
    for (const { version, event, arguments: args } of agentEvents(mac)) {
      const spec = known[version];
      if (event === 'ran' && spec) assert.deepEqual(args, agentArguments(spec), `${version} ran with other arguments`);
    }
  };

  test('runs on a fresh host, and a second run changes nothing', async () => {
    const mac = await macs.start();
    const first = await rollAgent(mac, v1);
    assert.equal(first.result, 'applied', first.stderr);
    assertRuns(mac, v1);
    assert.deepEqual(await agentsHaveSaid(mac, 1), [ran('v1', v1)]);
    assert.equal(readFileSync(mac.path(stampFile), 'utf8'), 'a hash\n');
    const pid = mac.job(label)?.pid;
    const second = await runStep(mac, agentJob, v1);
    assert.deepEqual([second.result, second.differences], ['unchanged', []]);
    assert.equal(mac.job(label)?.pid, pid);
    assert.equal(registrations(mac), 1);
  });

  test('gets new code by one restart, with no new registration and the same plist on the same inode (INC-09)', async () => {
    const mac = await started(v1);
    const before = lstatSync(mac.path(plistFile));
    const rolled = await rollAgent(mac, v2);
    assert.equal(rolled.result, 'applied', rolled.stderr);
    assertRuns(mac, v2);
    assert.deepEqual(await agentsHaveRun(mac, 2), [ran('v1', v1), ran('v2', v2)]);
    assert.equal(registrations(mac), 1);
    assert.equal(lstatSync(mac.path(plistFile)).ino, before.ino);
  });

  test('gets new arguments by one registration, while launchd still removes the old job (INC-220)', async () => {
    const mac = await started(v1);
    const fuller = withAgent(v1, { maxPods: 4 });
    const rolled = await rollAgent(mac, fuller);
    assert.equal(rolled.result, 'applied', rolled.stderr);
    assertRuns(mac, fuller);
    assert.deepEqual(await agentsHaveRun(mac, 2), [ran('v1', v1), ran('v1', fuller)]);
    assert.equal(registrations(mac), 2);
  });

  test('keeps VMs of others exactly while the host is a builder (INC-46)', async () => {
    const builder = { ...v1, ghActionsRunner: exampleSpec(macs.folder).ghActionsRunner };
    const mac = await started(v1);
    assert.doesNotMatch(plistOf(mac), /--disable-vm-gc/);
    assert.equal((await rollAgent(mac, builder as HostSpec)).result, 'applied');
    assert.match(plistOf(mac), /--disable-vm-gc/);
    assert.equal((await rollAgent(mac, v1)).result, 'applied');
    assert.doesNotMatch(plistOf(mac), /--disable-vm-gc/);
  });

  for (const [what, change] of [
    ['a release', {}],
    ['a release with other arguments', { maxPods: 4 }],
  ] as const) {
    test(`is rolled back when ${what} does not start (INC-10)`, async () => {
      const mac = await started(v1);
      const broken = withAgent(v1, { runtime: brokenRuntime(macs.folder), ...change });
      const failed = await rollAgent(mac, broken);
      assert.equal(failed.code, 1);
      assert.match(failed.stderr, /does not run on this host; the one before was put back and runs/);
      assertRuns(mac, v1);
      assert.deepEqual(await agentsHaveRun(mac, 2), [ran('v1', v1)]);
      assert.equal(existsSync(mac.path(stampFile)), false);
      const mended = await rollAgent(mac, v2);
      assert.equal(mended.result, 'applied', mended.stderr);
      assertRuns(mac, v2);
      assertNeverSkewed(mac, { v1, v2 });
    });
  }

  test('is not updated when the restart left the old process (INC-09)', async () => {
    const mac = await started(v1);
    mac.faults.kickstart = 'no-op';
    const failed = await rollAgent(mac, v2);
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /its old process \d+ is still there/);
    assert.match(failed.stderr, /the one before was put back and runs/);
    assertRuns(mac, v1);
    assert.equal(existsSync(mac.path(stampFile)), false);
    mac.faults.kickstart = 'normal';
    assert.equal((await rollAgent(mac, v2)).result, 'applied');
    assertRuns(mac, v2);
  });

  test('reports on a first boot that there is no previous release', async () => {
    const mac = await macs.start();
    mac.faults.crashLoop.add(label);
    const failed = await rollAgent(mac, v1);
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /there is no earlier release to put back/);
    mac.faults.crashLoop.delete(label);
    assert.equal((await rollAgent(mac, v1)).result, 'applied');
    assertRuns(mac, v1);
    assert.equal(registrations(mac), 1);
  });

  test('is started explicitly when launchd registers it without starting it', async () => {
    const mac = await macs.start();
    mac.faults.neverSpawned.add(label);
    const { result, stderr } = await rollAgent(mac, v1);
    assert.equal(result, 'applied', stderr);
    assertRuns(mac, v1);
  });

  test('runs although its label was disabled', async () => {
    const mac = await macs.start();
    assert.equal((await mac.run(`launchctl disable system/${label}`, { asRoot: true })).code, 0);
    const { result, stderr } = await rollAgent(mac, v1);
    assert.equal(result, 'applied', stderr);
    assertRuns(mac, v1);
  });

  test('gets a writable log again (EX_CONFIG, INC-03)', async () => {
    const mac = await started(v1);
    const pid = mac.job(label)?.pid;
    await mac.run(`chown root:wheel "$TARTAN_ROOT${agentLog}"`, { asRoot: true });
    chmodSync(mac.path(agentLog), 0o600);
    const mended = await runStep(mac, agentJob, v1);
    assert.equal(mended.result, 'applied', mended.stderr);
    assert.deepEqual(mended.differences, [`${agentLog} is not the agent's to write`]);
    assert.equal(mac.job(label)?.pid, pid, 'it was not restarted');
  });

  test('has private folders for guests and for its records (INC-03)', async () => {
    const mac = await started(v1);
    for (const path of ['/var/lib/tart-userdata', '/var/lib/tart-kubelet']) {
      const { stdout } = await mac.run(`stat -f '%Su:%Sg %Lp' "$TARTAN_ROOT${path}"`, { asRoot: true });
      assert.equal(stdout.trim(), 'm1:staff 700', path);
      chmodSync(mac.path(path), 0o755);
      const mended = await runStep(mac, agentJob, v1);
      assert.deepEqual(mended.differences, [`${path} is not the agent's to write`]);
      assert.equal(mended.result, 'applied', mended.stderr);
    }
  });

  test('gets a new runtime while the old one runs: another inode, as the kernel requires (INC-10)', async () => {
    const mac = await started(v1);
    const rolled = withAgent(v1, { runtime: standInRuntime(macs.folder, 'v26.11.0') });
    assert.equal((await rollAgent(mac, rolled)).result, 'applied');
    assertRuns(mac, rolled);
    assert.equal(registrations(mac), 1);
  });

  test('is rolled back when the disk is full', async () => {
    const mac = await started(v1);
    const fuller = withAgent(v1, { maxPods: 4 });
    await prepareAgent(mac, fuller);
    // Its removal would free exactly the space for the next write.
    rmSync(mac.path(stampFile));
    mac.faults.diskFree = 0;
    const failed = await runStep(mac, agentJob, fuller);
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /No space left on device/);
    assertRuns(mac, v1);
    mac.faults.diskFree = undefined;
    assert.equal((await runStep(mac, agentJob, fuller)).result, 'applied');
    assertRuns(mac, fuller);
  });

  test('counts as running only once it has stayed up, whatever launchd reports at the moment', async () => {
    const mac = await started(v1);
    // As after an interruption between the start and the proof.
    rmSync(mac.path(provenFile));
    const looked = await runStep(mac, agentJob, v1, { verb: 'check' });
    assert.deepEqual(looked.differences, [`the release ${agentReleaseID(v1)} was not seen running yet`]);
    mac.faults.crashLoop.add(label);
    const failed = await runStep(mac, agentJob, v1);
    assert.match(failed.stderr, /there is no earlier release to put back/);
    assert.equal(existsSync(mac.path(provenFile)), false, 'what never stayed is no way back');
    mac.faults.crashLoop.delete(label);
    const mended = await runStep(mac, agentJob, v1);
    assert.equal(mended.result, 'applied', mended.stderr);
    assert.equal(registrations(mac), 1);
  });

  test('is unchanged after a reboot', async () => {
    const mac = await started(v1);
    await mac.reboot();
    const again = await runStep(mac, agentJob, v1);
    assert.deepEqual([again.result, again.differences], ['unchanged', []], again.stderr);
  });

  describe('over an agent that was installed by other means', () => {
    const old = renderPlist({
      Label: label,
      ProgramArguments: ['/usr/local/bin/tart-kubelet', '--node-name=x'],
      UserName: 'm1',
      KeepAlive: true,
    });
    const legacy = async (): Promise<Mac> => {
      const mac = await macs.start();
      const program = mac.path('/usr/local/bin/tart-kubelet');
      mkdirSync(dirname(program), { recursive: true });
      writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} -e 'setInterval(() => {}, 1 << 30)'\n`, {
        mode: 0o755,
      });
      writeFileSync(mac.path(plistFile), old);
      const { code: exit } = await mac.run(`launchctl bootstrap system "$TARTAN_ROOT${plistFile}"`, { asRoot: true });
      assert.equal(exit, 0);
      return mac;
    };

    test('replaces it', async () => {
      const mac = await legacy();
      const { result, stderr } = await rollAgent(mac, v1);
      assert.equal(result, 'applied', stderr);
      assertRuns(mac, v1);
    });

    test('restores it when the new agent does not run', async () => {
      const mac = await legacy();
      const failed = await rollAgent(mac, withAgent(v1, { runtime: brokenRuntime(macs.folder) }));
      assert.match(failed.stderr, /the one before was put back and runs/);
      assert.equal(plistOf(mac), old);
      assert.equal(mac.job(label)?.state, 'running');
    });
  });

  test('is removed when it is not wanted', async () => {
    const mac = await started(v1);
    const off = { ...agentJob, intent: () => undefined };
    assert.equal((await runStep(mac, off, v1)).result, 'removed');
    assert.equal(mac.job(label), undefined);
    assert.equal(existsSync(mac.path(plistFile)), false);
    assert.equal((await runStep(mac, off, v1)).result, 'unchanged');
  });

  test('needs its release first', async () => {
    const mac = await macs.start();
    const failed = await runStep(mac, agentJob, v1);
    assert.match(failed.stderr, /the step agent-release comes first/);
  });

  describe('interrupted at any point', () => {
    test('is completed by the next run, and new code never runs with old arguments', async () => {
      const known = { v1, v2: withAgent(v2, { maxPods: 4 }) };
      // Alternates: each run is cut on the way from the release that the run before installed.
      const wanted = (nth: number): 'v1' | 'v2' => (nth % 2 === 0 ? 'v1' : 'v2');
      const mac = await started(known.v1);
      await prepareAgent(mac, known.v2);
      const isSkewed = (spec: HostSpec): boolean =>
        currentOf(mac) === `releases/${agentReleaseID(spec)}` && plistOf(mac) !== renderPlist(jobOf(spec));
      let skewed = 0;
      const cuts = await cutEverywhere(agentJob, {
        spec: (nth) => known[wanted(nth)],
        prepare: async () => mac,
        check: async (_, nth) => {
          const spec = known[wanted(nth)];
          if (isSkewed(spec)) skewed += 1;
          // Sometimes the power fails too: launchd then starts whatever is installed.
          if (isSkewed(spec) && skewed % 2 === 1) {
            const before = agentEvents(mac).length;
            await mac.reboot();
            await agentsHaveSaid(mac, before + 1);
          }
          const finished = await runStep(mac, agentJob, spec);
          assert.equal(finished.code, 0, `cut ${nth}: ${finished.stderr}`);
          assertRuns(mac, spec);
          await runsLast(mac, wanted(nth), spec);
          assertNeverSkewed(mac, known);
        },
      });
      assert.ok(cuts > 10, `${cuts} cuts`);
      assert.ok(
        agentEvents(mac).some(({ event }) => event === 'refused'),
        'the agent had its chance to go wrong',
      );
    });

    test('is completed by the next run on a fresh host', async () => {
      const mac = await macs.start();
      await prepareAgent(mac, v1);
      const cuts = await cutEverywhere(agentJob, {
        spec: v1,
        prepare: async () => {
          assert.equal((await runStep(mac, { ...agentJob, intent: () => undefined }, v1)).code, 0);
          return mac;
        },
        check: async (_, nth) => {
          const finished = await runStep(mac, agentJob, v1);
          assert.equal(finished.code, 0, `cut ${nth}: ${finished.stderr}`);
          assertRuns(mac, v1);
          await runsLast(mac, 'v1', v1);
        },
      });
      assert.ok(cuts > 10, `${cuts} cuts`);
    });
  });
});
