import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Tool } from '../machine.ts';
import { type MinimalMachine, minimalMachine, resultText, toolCall } from '../testing/minimal-machine.ts';
import { createCodesign } from './codesign.ts';

describe('codesign', () => {
  let machine: MinimalMachine;
  let codesign: Tool;
  const path = '/usr/local/bin/node_exporter';

  beforeEach(() => {
    machine = minimalMachine();
    codesign = createCodesign(machine);
    machine.write(path, '#!/bin/sh\necho "runs with $1"\n', 0o751);
  });

  afterEach(() => machine.remove());

  const run = async (...args: string[]): Promise<string> => resultText(await codesign(toolCall('codesign', args)));
  const content = (): string => readFileSync(machine.path(path), 'utf8');
  const inode = (): number => statSync(machine.path(path)).ino;

  test('--force --sign - writes other bytes into a new inode of the same mode, and the program still runs', async () => {
    const before = { content: content(), inode: inode() };
    assert.equal(await run('--force', '--sign', '-', path), `0 ${path}: replacing existing signature`);
    assert.notEqual(content(), before.content);
    assert.notEqual(inode(), before.inode);
    assert.equal(statSync(machine.path(path)).mode & 0o777, 0o751);
    assert.equal(execFileSync(machine.path(path), ['it'], { encoding: 'utf8' }), 'runs with it\n');
    assert.deepEqual(machine.journalOf('codesign'), [path]);
  });

  test('is deterministic, however often it signs', async () => {
    await run('-fs', '-', path);
    const once = content();
    await run('-f', '-s', '-', path);
    assert.equal(content(), once);
  });

  test('a program of node runs with a signature too', async () => {
    machine.write('/opt/program', '#!/usr/bin/env node\nconsole.log("runs")', 0o755);
    await run('--force', '--sign', '-', '/opt/program');
    assert.equal(execFileSync(process.execPath, [machine.path('/opt/program')], { encoding: 'utf8' }), 'runs\n');
  });

  test('a path of the real disk is printed as it was given', async () => {
    const real = machine.path(path);
    assert.equal(await run('--force', '--sign', '-', real), `0 ${real}: replacing existing signature`);
  });

  test('without --force leaves a signed file unchanged', async () => {
    const before = content();
    assert.equal(await run('--sign', '-', path), `1 ${path}: is already signed`);
    assert.equal(content(), before);
  });

  test('-v is silent about signed files, and names unsigned ones', async () => {
    machine.write('/opt/text', 'no code');
    assert.equal(await run('-v', path), '0');
    assert.equal(await run('--verify', '--verbose', '/opt/text'), '1 /opt/text: code object is not signed at all');
    assert.equal(await run('--sign', '-', '/opt/text'), '0');
    assert.equal(await run('-v', '/opt/text'), '0');
  });

  test('-d distinguishes an ad-hoc signature from that of the linker', async () => {
    assert.match(await run('-dv', path), /linker-signed/);
    await run('--force', '--sign', '-', path);
    assert.match(await run('--display', '--verbose=4', path), /flags=0x2\(adhoc\) \/ Signature=adhoc/);
  });

  test('a bundle is left unchanged, and recorded in the journal', async () => {
    machine.write('/usr/local/lib/tart.app/Contents/MacOS/tart', '#!/bin/sh\n', 0o755);
    assert.equal((await run('--force', '--sign', '-', '/usr/local/lib/tart.app')).slice(0, 1), '0');
    assert.deepEqual(machine.journalOf('codesign'), ['/usr/local/lib/tart.app']);
  });

  test('a file that cannot be signed is left unchanged', async () => {
    const before = content();
    assert.equal(await run('--force', '--sign', '-', '/opt/gone'), '1 /opt/gone: No such file or directory');
    machine.faults.diskFree = 10;
    assert.equal(await run('--force', '--sign', '-', path), `1 ${path}: No space left on device`);
    machine.faults.diskFree = undefined;
    const asUser = await codesign(toolCall('codesign', ['-f', '-s', '-', path], { asRoot: false }));
    assert.equal(resultText(asUser), `1 ${path}: Permission denied`);
    assert.equal(content(), before);
  });

  test('without a path prints its usage', async () => {
    assert.equal((await run('--force', '--sign', '-')).slice(0, 1), '2');
  });
});
