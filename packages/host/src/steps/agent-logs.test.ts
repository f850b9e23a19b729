import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { after, before, beforeEach, describe, test } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import { gunzipSync } from 'node:zlib';
import type { Mac } from '@tartan/sim-mac';
import type { HostSpec } from '../host-spec.ts';
import { renderPlist } from '../launchd-plist.ts';
import { cutEverywhere } from '../testing/crash-injection.ts';
import { exampleSpec } from '../testing/example-spec.ts';
import { type FreshMacs, freshMacs } from '../testing/fresh-macs.ts';
import { runStep } from '../testing/run-step.ts';
import { agentLogs } from './agent.ts';

const label = 'dev.tuist.tart-kubelet-logs';
const log = '/var/log/example.log';

describe('the agent’s log', () => {
  let macs: FreshMacs;
  let mac: Mac;
  let spec: HostSpec;

  before(async () => {
    macs = freshMacs();
    mac = await macs.start();
    spec = exampleSpec(macs.folder);
  });
  beforeEach(() => {
    for (const file of logs()) rmSync(mac.path(`/var/log/${file}`));
  });
  after(() => macs.stopAll());

  const logs = (): string[] =>
    readdirSync(mac.path('/var/log'))
      .filter((name) => name.startsWith('example.log'))
      .sort();
  const archived = (number: number): string => gunzipSync(readFileSync(mac.path(`${log}.${number}.gz`))).toString();
  const rotate = async (limit: number): Promise<void> => {
    const command = `"$TARTAN_ROOT/usr/local/lib/tart-kubelet/rotate-logs" ${limit} ${log} /var/log/never-there.log`;
    const { code, stderr } = await mac.run(command, { asRoot: true });
    assert.equal(code, 0, stderr);
  };

  test('has a rotation job, registered once', async () => {
    const first = await runStep(mac, agentLogs, spec);
    assert.equal(first.result, 'applied', first.stderr);
    assert.notEqual(mac.job(label), undefined);
    assert.equal((await runStep(mac, agentLogs, spec)).result, 'unchanged');
    writeFileSync(mac.path('/usr/local/lib/tart-kubelet/rotate-logs'), 'damaged');
    assert.equal((await runStep(mac, agentLogs, spec)).result, 'applied');
    const registered = mac.journal.entries.filter(
      ({ what, detail }) => what === 'launchd.bootstrap' && detail.startsWith(label),
    );
    assert.equal(registered.length, 1);
  });

  test('is not rotated while it is small', async () => {
    writeFileSync(mac.path(log), 'small');
    await rotate(5);
    assert.deepEqual(logs(), ['example.log']);
    assert.equal(readFileSync(mac.path(log), 'utf8'), 'small');
  });

  test('is truncated in place when it is large: its writer continues (INC-423)', async () => {
    writeFileSync(mac.path(log), 'first part');
    const inode = statSync(mac.path(log)).ino;
    await rotate(5);
    assert.equal(statSync(mac.path(log)).ino, inode);
    assert.equal(statSync(mac.path(log)).size, 0);
    assert.equal(archived(1), 'first part');
    appendFileSync(mac.path(log), 'second part');
    await rotate(5);
    assert.deepEqual([archived(1), archived(2)], ['second part', 'first part']);
  });

  test('continues at its beginning after the rotation, also with launchd as its writer', async () => {
    const writer = renderPlist({
      Label: 'writer',
      ProgramArguments: ['/bin/sh', '-c', "trap 'echo after' USR1; echo before; while :; do sleep 3600 & wait; done"],
      RunAtLoad: true,
      StandardOutPath: log,
      StandardErrorPath: log,
    });
    writeFileSync(mac.path('/Library/LaunchDaemons/writer.plist'), writer);
    writeFileSync(mac.path(log), '');
    const says = (what: string) =>
      eventually(`the log has ${what}`, () => readFileSync(mac.path(log), 'utf8').includes(what));
    await mac.run('launchctl bootstrap system "$TARTAN_ROOT/Library/LaunchDaemons/writer.plist"', { asRoot: true });
    await says('before');
    await rotate(5);
    await mac.run('launchctl kill USR1 system/writer', { asRoot: true });
    await says('after');
    assert.equal(readFileSync(mac.path(log), 'utf8'), 'after\n');
    assert.equal(archived(1), 'before\n');
    await mac.run('launchctl bootout system/writer', { asRoot: true });
  });

  test('keeps three rotated parts', async () => {
    for (const part of ['part 1', 'part 2', 'part 3', 'part 4', 'part 5']) {
      writeFileSync(mac.path(log), part);
      await rotate(5);
    }
    assert.deepEqual(logs(), ['example.log', 'example.log.1.gz', 'example.log.2.gz', 'example.log.3.gz']);
    assert.deepEqual([archived(1), archived(2), archived(3)], ['part 5', 'part 4', 'part 3']);
  });

  test('loses no part of an interrupted rotation', async () => {
    writeFileSync(mac.path(log), 'new');
    writeFileSync(mac.path(`${log}.0`), 'copied, then cut');
    await rotate(100);
    assert.equal(archived(1), 'copied, then cut');
    assert.deepEqual(logs(), ['example.log', 'example.log.1.gz']);
  });

  test('is rotated after any interruption', async () => {
    await cutEverywhere(agentLogs, {
      spec,
      prepare: async () => {
        assert.equal((await runStep(mac, { ...agentLogs, intent: () => undefined }, spec)).code, 0);
        return mac;
      },
      check: async (_, nth) => {
        const finished = await runStep(mac, agentLogs, spec);
        assert.equal(finished.code, 0, `cut ${nth}: ${finished.stderr}`);
        assert.notEqual(mac.job(label), undefined);
      },
    });
  });

  test('is not rotated when the step is absent', async () => {
    const off = { ...agentLogs, intent: () => undefined };
    assert.equal((await runStep(mac, off, spec)).code, 0);
    assert.equal(mac.job(label), undefined);
    assert.equal(existsSync(mac.path('/usr/local/lib/tart-kubelet/rotate-logs')), false);
    assert.equal((await runStep(mac, off, spec)).result, 'unchanged');
  });
});
