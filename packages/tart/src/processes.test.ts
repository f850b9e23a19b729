import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  createProcessTable,
  createProcessUsage,
  isSameProcess,
  parseProcesses,
  parseUsage,
  tartProcesses,
  vmProcesses,
} from './processes.ts';
import { isTartError } from './tart-error.ts';

const process_ = (command: string) => ({ pid: 7, startedAt: 0, command });
const vmNames = (command: string, ...paths: string[]): readonly string[] =>
  vmProcesses([process_(command)], paths).map(({ name }) => name);

describe('processes of this Mac', () => {
  test('are parsed from ps output, without zombies', () => {
    const text = [
      '    1 Ss   Mon Nov 16 06:45:48 2026 /sbin/launchd',
      ' 4711 S+   Sun Nov  1 23:00:01 2026 /usr/local/bin/tart run vm-1 --no-graphics',
      ' 4712 Z    Sun Nov  1 23:00:01 2026 [tart] <defunct>',
      'nonsense',
      '',
    ].join('\n');
    assert.deepEqual(parseProcesses(text), [
      { pid: 1, startedAt: Date.UTC(2026, 10, 16, 6, 45, 48), command: '/sbin/launchd' },
      { pid: 4711, startedAt: Date.UTC(2026, 10, 1, 23, 0, 1), command: '/usr/local/bin/tart run vm-1 --no-graphics' },
    ]);
    fc.assert(fc.property(fc.string(), (any) => Array.isArray(parseProcesses(any))));
  });

  test('a process is found with its start time until it exits', async () => {
    const table = createProcessTable(process.env);
    const child = spawn('sleep', ['60']);
    const { pid } = child;
    assert.ok(pid !== undefined);
    const found = await table.find(pid);
    assert.equal(found?.pid, pid);
    assert.match(found.command, /sleep 60$/);
    assert.ok((await table.list()).some((one) => isSameProcess(one, found)));
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal(await table.find(pid), undefined);
  });

  test('a reused PID is a different process (INC-51)', () => {
    assert.ok(isSameProcess({ pid: 1, startedAt: 1000 }, { pid: 1, startedAt: 2000 }));
    assert.ok(!isSameProcess({ pid: 1, startedAt: 1000 }, { pid: 1, startedAt: 60_000 }));
    assert.ok(!isSameProcess({ pid: 1, startedAt: 1000 }, { pid: 2, startedAt: 1000 }));
  });

  test('a failing ps is an error, never an empty list', async () => {
    const table = createProcessTable({ PATH: '/nowhere' });
    await assert.rejects(table.list(), (error) => isTartError(error, 'unreadable'));
    await assert.rejects(table.find(1), (error) => isTartError(error, 'unreadable'));
  });
});

describe('virtual machines among the processes', () => {
  test('are processes of `tart run`, by any path', () => {
    assert.deepEqual(vmNames('tart run vm-1'), ['vm-1']);
    assert.deepEqual(vmNames('/usr/local/bin/tart run vm-1 --no-graphics --dir env:/x:ro'), ['vm-1']);
    assert.deepEqual(vmNames('/bin/sh /opt/tart run vm-1'), ['vm-1']);
    assert.deepEqual(vmNames('/Users/a b/tart run vm-1', '/Users/a b/tart'), ['vm-1']);
    assert.deepEqual(vmNames('tart run --no-graphics --dir a:/b vm-1'), ['vm-1']);
  });

  test('are not processes that only mention it (INC-51)', () => {
    for (const command of [
      'vi /usr/local/bin/tart run vm-1',
      'grep tart run vm-1',
      '/bin/sh -c tart run vm-1',
      'tart-kubelet run vm-1',
      'start run vm-1',
      'tart get vm-1',
      'tart run',
    ])
      assert.deepEqual(vmNames(command), [], command);
  });

  test('are matched by their whole name: x does not run because x-2 does (INC-51)', () => {
    assert.deepEqual(vmNames('tart run x-2'), ['x-2']);
  });

  test('other tart commands are listed as well', () => {
    assert.deepEqual(tartProcesses([process_('/opt/tart push base ghcr.io/a/b:1')]), [
      { pid: 7, startedAt: 0, command: 'push', rest: 'base ghcr.io/a/b:1' },
    ]);
  });
});

describe('CPU and memory of processes', () => {
  test('is parsed from ps of Linux and of macOS', () => {
    const text = ['   7 00:00:03  1024', '8 1-02:03:04 1', '  9 123:45.67 2048', 'nonsense', '10 - 5', ''].join('\n');
    assert.deepEqual(
      [...parseUsage(text)],
      [
        [7, { cpuSeconds: 3, memoryBytes: 1_048_576 }],
        [8, { cpuSeconds: 93_784, memoryBytes: 1024 }],
        [9, { cpuSeconds: 7425.67, memoryBytes: 2_097_152 }],
      ],
    );
    fc.assert(fc.property(fc.string(), (any) => parseUsage(any) instanceof Map));
  });

  test('is known for running processes only', async () => {
    const read = createProcessUsage(process.env);
    const gone = 2 ** 22 - 1;
    const found = await read([process.pid, gone]);
    assert.deepEqual([...found.keys()], [process.pid]);
    assert.ok((found.get(process.pid)?.memoryBytes ?? 0) > 1_000_000);
    assert.equal((await read([])).size, 0);
    assert.equal((await read([gone])).size, 0);
  });

  test('a failing ps is an error, not an empty result', async () => {
    await assert.rejects(createProcessUsage({ PATH: '/nowhere' })([1]), (error) => isTartError(error, 'unreadable'));
  });
});
