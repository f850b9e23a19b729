import assert from 'node:assert/strict';
import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { forever, type LaunchdMachine, launchdMachine } from '../testing/launchd-machine.ts';
import { type MinimalMachine, minimalMachine, resultText } from '../testing/minimal-machine.ts';
import { type Amfi, createAmfi } from './amfi.ts';

describe('AMFI', () => {
  let machine: MinimalMachine;
  let amfi: Amfi;
  let file: string;

  beforeEach(() => {
    machine = minimalMachine();
    amfi = createAmfi();
    file = machine.path('program');
    writeFileSync(file, 'one');
    assert.ok(amfi.allowsRun(file));
  });

  afterEach(() => machine.remove());

  test('accepts unchanged bytes again', () => {
    writeFileSync(file, 'one');
    assert.ok(amfi.allowsRun(file));
  });

  test('kills other bytes in the same inode, each time', () => {
    writeFileSync(file, 'two');
    assert.equal(amfi.allowsRun(file), false);
    assert.equal(amfi.allowsRun(file), false);
  });

  test('accepts other bytes from a copy, and after a rename over the old file', () => {
    writeFileSync(file, 'two');
    copyFileSync(file, `${file}.copy`);
    assert.ok(amfi.allowsRun(`${file}.copy`));
    renameSync(`${file}.copy`, file);
    assert.ok(amfi.allowsRun(file));
  });

  test('does not mistake a new file for a deleted one with the same inode', () => {
    for (let version = 0; version < 20; version += 1) {
      rmSync(file);
      writeFileSync(file, `version ${version}`);
      assert.ok(amfi.allowsRun(file));
    }
  });

  test('forgets signatures at a reboot', () => {
    writeFileSync(file, 'two');
    amfi.clear();
    assert.ok(amfi.allowsRun(file));
  });

  test('detects a change at the end of a large file', () => {
    const large = Buffer.alloc(5_000_000);
    writeFileSync(`${file}.large`, large);
    assert.ok(amfi.allowsRun(`${file}.large`));
    assert.ok(amfi.allowsRun(`${file}.large`));
    large[large.length - 1] = 1;
    writeFileSync(`${file}.large`, large);
    assert.equal(amfi.allowsRun(`${file}.large`), false);
  });
});

describe('a job whose program was overwritten in place (INC-10)', () => {
  let mac: LaunchdMachine;
  const job = (): ReturnType<LaunchdMachine['launchd']['job']> => mac.launchd.job('job');

  beforeEach(async () => {
    mac = await launchdMachine();
    mac.program('/opt/job', forever);
    await mac.launchctl('bootstrap', 'system', mac.daemon('job', { KeepAlive: true }));
    mac.program('/opt/job', `${forever} `);
    await mac.launchctl('kickstart', '-k', 'system/job');
  });

  afterEach(() => mac.stop());

  test('is killed at its next start, with OS_REASON_CODESIGNING', async () => {
    assert.equal(job()?.state, 'spawn scheduled');
    assert.match((await mac.launchctl('print', 'system/job')).stdout ?? '', /last exit reason = OS_REASON_CODESIGNING/);
    assert.match((await mac.launchctl('list')).stdout ?? '', /^-\t-9\tjob$/m);
    mac.clock.advance(10_000);
    const { state, runs, lastExit } = job() ?? {};
    assert.deepEqual(
      { state, runs, lastExit },
      { state: 'spawn scheduled', runs: 3, lastExit: 'OS_REASON_CODESIGNING' },
    );
  });

  test('runs after codesign, though codesign -v had found no error', async () => {
    assert.equal(resultText(await mac.tool('codesign', '-v', '/opt/job')), '0');
    await mac.tool('codesign', '--force', '--sign', '-', '/opt/job');
    mac.clock.advance(10_000);
    assert.equal(job()?.state, 'running');
  });

  test('runs after a reboot', async () => {
    await mac.launchd.shutdown();
    await mac.launchd.boot();
    assert.equal(job()?.state, 'running');
  });
});
