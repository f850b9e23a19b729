import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Mac } from '@tartan/sim-mac';
import { composeScript } from '../engine/compose-script.ts';
import { acquireLock } from '../engine/lock.ts';
import { summaryOf } from '../engine/step-hash.ts';
import type { Agent, HostSpec } from '../host-spec.ts';
import { renderPlist } from '../launchd-plist.ts';
import { agentJob } from '../steps/agent.ts';
import { cutEverywhere, cutScriptEverywhere } from '../testing/crash-injection.ts';
import { exampleSpec } from '../testing/example-spec.ts';
import { type FreshMacs, freshMacs } from '../testing/fresh-macs.ts';
import { macConnection, type MacConnectionOptions } from '../testing/mac-connection.ts';
import { prepareAgent, rollAgent } from '../testing/roll-agent.ts';
import { runStep } from '../testing/run-step.ts';
import { agentEvents, agentsSay, brokenRuntime, standInAgent, standInRuntime } from '../testing/stand-in-agent.ts';
import { agentArguments, agentLaunchdJob as jobOf, agentReleaseID } from './job.ts';
import { rollBackAgent, type RollBackOutcome } from './roll-back.ts';
import { hostRedactor } from '../engine/redaction.ts';

const label = 'dev.tuist.tart-kubelet';
const plistFile = `/Library/LaunchDaemons/${label}.plist`;
const stampFolder = '/var/db/tartan/steps';

describe('rolling back the agent', () => {
  let macs: FreshMacs;
  let v1: HostSpec;
  /** Other code and other arguments. */
  let v2: HostSpec;
  /** The code of `v2` with the arguments of `v1`: leaves the plist as it is. */
  let v3: HostSpec;
  let mac: Mac;

  const withAgent = (spec: HostSpec, change: Partial<Agent>): HostSpec => ({
    ...spec,
    agent: { ...spec.agent, ...change },
  });

  before(async () => {
    macs = freshMacs();
    const { ghActionsRunner: _, ...spec } = exampleSpec(macs.folder);
    v1 = withAgent(spec, {
      runtime: standInRuntime(macs.folder, 'v26.10.0'),
      release: standInAgent(macs.folder, 'v1'),
    });
    v2 = withAgent(v1, { release: standInAgent(macs.folder, 'v2'), maxPods: 4 });
    v3 = withAgent(v2, { maxPods: v1.agent.maxPods });
    mac = await macs.start();
  });
  after(() => macs.stopAll());

  const roll = async (...specs: readonly HostSpec[]): Promise<void> => {
    for (const spec of specs) {
      const { code, stderr } = await rollAgent(mac, spec);
      assert.equal(code, 0, stderr);
    }
  };
  const goBack = (options: MacConnectionOptions = {}): Promise<RollBackOutcome> =>
    rollBackAgent(macConnection(mac, options), 'test');
  const stamps = (): string[] => readdirSync(mac.path(stampFolder)).sort();
  const releases = (): string[] => readdirSync(mac.path('/usr/local/lib/tart-kubelet/releases')).sort();

  const assertRuns = (spec: HostSpec): void => {
    assert.equal(mac.job(label)?.state, 'running');
    assert.equal(readlinkSync(mac.path('/usr/local/lib/tart-kubelet/current')), `releases/${agentReleaseID(spec)}`);
    assert.equal(readFileSync(mac.path(plistFile), 'utf8'), renderPlist(jobOf(spec)));
  };
  const assertBack = (outcome: RollBackOutcome, spec: HostSpec): void => {
    assert.equal(outcome.kind, 'rolled back', outcome.kind === 'step failed' ? outcome.error.message : outcome.kind);
    assertRuns(spec);
    assert.deepEqual(stamps(), ['agent-runtime']);
  };
  const failure = (outcome: RollBackOutcome): string => {
    assert.ok(outcome.kind === 'step failed', JSON.stringify(outcome));
    assert.equal(outcome.error.step, 'roll-back-agent');
    return outcome.error.message;
  };

  test('is refused on a Mac that had no other release, and changes nothing', async () => {
    await roll(v1);
    const pid = mac.job(label)?.pid;
    assert.match(failure(await goBack()), /no other agent ran on this Mac .* so there is none to go back to/);
    assertRuns(v1);
    assert.equal(mac.job(label)?.pid, pid);
    assert.deepEqual(stamps(), ['agent-job', 'agent-release', 'agent-runtime']);
  });

  test('restores release and arguments together, and removes the stamps of the new ones', async () => {
    await roll(v1, v2);
    const outcome = await goBack();
    assertBack(outcome, v1);
    await agentsSay(mac, (events) =>
      isDeepStrictEqual(events.at(-1), { version: 'v1', event: 'ran', arguments: agentArguments(v1) }),
    );
    assert.ok(outcome.kind === 'rolled back');
    assert.equal(outcome.summary, summaryOf({ 'agent-runtime': 'a hash' }));
    assert.equal(outcome.rebootPending, false);
  });

  test('is idempotent', async () => {
    const pid = mac.job(label)?.pid;
    assertBack(await goBack(), v1);
    assert.equal(mac.job(label)?.pid, pid, 'it was not restarted');
  });

  test('is superseded by the next push, which records a new previous release', async () => {
    await roll(v2);
    assertRuns(v2);
    assertBack(await goBack(), v1);
    await roll(v1);
    assert.deepEqual(stamps(), ['agent-job', 'agent-release', 'agent-runtime']);
    await roll(v3, v2);
    assertBack(await goBack(), v3);
  });

  test('keeps only what it needs on the Mac', async () => {
    await roll(v1, v2, v3);
    assert.deepEqual(releases(), [v1, v2, v3].map(agentReleaseID).sort());
    const v4 = withAgent(v1, { maxPods: 5 });
    await roll(v4);
    assert.deepEqual(releases(), [v2, v3, v4].map(agentReleaseID).sort());
    assertBack(await goBack(), v3);
  });

  test('goes back beyond a roll that failed', async () => {
    await roll(v1, v2);
    const failed = await rollAgent(mac, withAgent(v1, { runtime: brokenRuntime(macs.folder), maxPods: 6 }));
    assert.match(failed.stderr, /the one before was put back and runs/);
    assertRuns(v2);
    assertBack(await goBack(), v1);
  });

  test('fails when the old release does not stay up, and can be retried', async () => {
    await roll(v1, v2);
    mac.faults.crashLoop.add(label);
    assert.match(failure(await goBack()), /was put back, but does not run any more/);
    assert.deepEqual(stamps(), ['agent-runtime'], 'nobody takes the Mac for rolled');
    mac.faults.crashLoop.delete(label);
    assertBack(await goBack(), v1);
  });

  test('fails when the restart left the new process (INC-09)', async () => {
    await roll(v1, v3);
    mac.faults.kickstart = 'no-op';
    assert.match(failure(await goBack()), /its old process \d+ is still there/);
    mac.faults.kickstart = 'normal';
    assertBack(await goBack(), v1);
  });

  test('is refused when the previous release is missing, and changes nothing', async () => {
    await roll(v1, v2);
    rmSync(mac.path(`/usr/local/lib/tart-kubelet/releases/${agentReleaseID(v1)}`), { recursive: true });
    assert.match(failure(await goBack()), /is not on this Mac any more, so there is none to go back to/);
    assertRuns(v2);
    assert.deepEqual(stamps(), ['agent-job', 'agent-release', 'agent-runtime']);
  });

  test('waits for the lock, and releases its own', async () => {
    await roll(v1, v2);
    const held = await acquireLock(macConnection(mac), 'somebody else', hostRedactor({}));
    assert.ok(held.kind === 'acquired');
    const outcome = await goBack();
    assert.ok(outcome.kind === 'locked' && outcome.by === 'somebody else', JSON.stringify(outcome));
    assertRuns(v2);
    await held.release();
    assertBack(await goBack(), v1);
    const next = await acquireLock(macConnection(mac), 'the next', hostRedactor({}));
    assert.ok(next.kind === 'acquired');
    await next.release();
  });

  test('changes nothing once the lock was lost', async () => {
    await roll(v1, v2);
    const takeOver = (): void => {
      const folder = mac.path('/var/db/tartan/lock');
      const last =
        readdirSync(folder)
          .filter((name) => /^\d+$/.test(name))
          .sort()
          .at(-1) ?? '';
      const content = readFileSync(`${folder}/${last}`, 'utf8').split('\n');
      writeFileSync(`${folder}/${Number(last) + 1}`, ['thief#1', ...content.slice(1)].join('\n'));
    };
    const outcome = await goBack({
      answer: (script) => {
        if (script.includes("STEP='roll-back-agent'")) takeOver();
        return undefined;
      },
    });
    assert.ok(outcome.kind === 'step failed' && outcome.error.failure === 'lock lost', JSON.stringify(outcome));
    assertRuns(v2);
    rmSync(mac.path('/var/db/tartan/lock'), { recursive: true });
  });

  test('continues after a lost connection at any point', async () => {
    await roll(v1);
    for (let nth = 0, finished = false; !finished; nth += 1) {
      await roll(v2);
      const outcome = await goBack({ cut: (_, at) => (at === nth ? 'after' : undefined) });
      finished = outcome.kind !== 'connection lost';
      assert.ok(nth < 9, 'it never came to its end');
      assertBack(await goBack(), v1);
    }
  });

  test('fails when the host reports no result', async () => {
    await roll(v1, v2);
    const silent = { kind: 'done', stdout: '', stderr: '' } as const;
    const isIt = (script: string): boolean => script.includes("STEP='roll-back-agent'");
    assert.match(
      failure(await goBack({ answer: (script) => (isIt(script) ? silent : undefined) })),
      /printed no result/,
    );
  });

  test('is completed by the next run after an interruption at any point, and old code never runs with new arguments', async () => {
    const known: Readonly<Record<string, HostSpec>> = { v1, v2 };
    const script = composeScript('roll-back-agent', { LOCK_OWNER: '', STEP: 'roll-back-agent' });
    await roll(v1);
    const seen = agentEvents(mac).length;
    const cuts = await cutScriptEverywhere(() => ({ script, payload: undefined, asRoot: true }), {
      only: ['cat', 'launchctl', 'mv', 'rm'],
      prepare: async () => {
        await roll(v2);
        return mac;
      },
      check: async (_, nth) => {
        // Sometimes the power fails too: launchd then starts whatever is installed.
        if (nth % 3 === 0) await mac.reboot();
        assertBack(await goBack(), v1);
      },
    });
    assert.ok(cuts > 6, `${cuts} cuts`);
    for (const { version, event, arguments: args } of agentEvents(mac).slice(seen)) {
      const spec = known[version];
      if (event === 'ran' && spec) assert.deepEqual(args, agentArguments(spec), `${version} ran with other arguments`);
    }
  });

  test('finds the previous release after an interruption between the two records of a proof', async () => {
    await roll(v1, v2);
    // As `remember_proven` leaves it when interrupted: the new agent runs, and both files have the old one.
    const proven = mac.path('/var/db/tartan/agent-proven');
    writeFileSync(proven, readFileSync(`${proven}-before`));
    assert.equal((await runStep(mac, agentJob, v2)).result, 'applied');
    assertBack(await goBack(), v1);
  });

  test('is possible after a roll that was interrupted at any point before its proof', async () => {
    const cuts = await cutEverywhere(agentJob, {
      spec: v2,
      // Before each file that is written.
      only: ['cat'],
      prepare: async () => {
        await roll(v3, v1);
        await prepareAgent(mac, v2);
        return mac;
      },
      check: async () => {
        await roll(v2);
        assertBack(await goBack(), v1);
      },
    });
    assert.equal(cuts, 3, 'the job, the way back and the proof');
  });

  test('is possible after a restart of the same agent', async () => {
    await roll(v1, v2);
    await mac.run(`launchctl bootout system/${label}`, { asRoot: true });
    await roll(v2);
    assertBack(await goBack(), v1);
  });

  test('is not possible after the agent was removed', async () => {
    await roll(v1, v2);
    assert.equal((await runStep(mac, { ...agentJob, intent: () => undefined }, v1)).result, 'removed');
    assert.equal(existsSync(mac.path('/var/db/tartan/agent-proven-before')), false);
  });

  test('restores an agent that was installed by other means', async () => {
    // Another Mac: on the first one launchd restarts no job any more after so many registrations (INC-09).
    mac = await macs.start();
    const old = renderPlist({
      Label: label,
      ProgramArguments: ['/usr/local/bin/tart-kubelet'],
      UserName: 'm1',
      KeepAlive: true,
    });
    const program = mac.path('/usr/local/bin/tart-kubelet');
    mkdirSync(dirname(program), { recursive: true });
    const text = `#!/bin/sh\nexec ${process.execPath} -e 'setInterval(() => {}, 1 << 30)'\n`;
    writeFileSync(program, text, { mode: 0o755 });
    writeFileSync(mac.path(plistFile), old);
    await mac.run(`launchctl bootstrap system "$TARTAN_ROOT${plistFile}"`, { asRoot: true });
    await roll(v1);
    const back = await goBack();
    assert.equal(back.kind, 'rolled back', back.kind === 'step failed' ? back.error.message : back.kind);
    assert.equal(readFileSync(mac.path(plistFile), 'utf8'), old);
    assert.equal(mac.job(label)?.state, 'running');
    assert.equal((await goBack()).kind, 'rolled back');
  });
});
