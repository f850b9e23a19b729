import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { manualClock, systemClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import fc from 'fast-check';
import { createProcessTable, vmProcesses } from './processes.ts';
import { exitCause, type ExitCause, pollExit, readLogTail, type RunningVm } from './run.ts';
import { isTartError, TartError } from './tart-error.ts';
import { createTartHarness, type TartHarness } from './testing/tart-harness.ts';

describe('a virtual machine', () => {
  let bench: TartHarness;
  beforeEach(() => {
    bench = createTartHarness();
    bench.fake.addVm('vm');
  });
  afterEach(() => bench.remove());

  const start = (name = 'vm'): Promise<RunningVm> =>
    bench.tart.run(name, { logFile: join(bench.folder, 'logs', `${name}.log`) });
  const booted = (name = 'vm'): Promise<string> => eventually(`${name} has an address`, () => bench.tart.ip(name));
  const ending = async (vm: RunningVm) => exitCause(await vm.exited, await readLogTail(vm.logFile));

  test('boots, gets an address, and reads as running', async () => {
    bench.fake.controls.guest('vm', { address: '192.168.64.7' });
    await start();
    await booted();
    assert.equal(await bench.tart.ip('vm'), '192.168.64.7');
    assert.equal((await bench.tart.get('vm'))?.state, 'running');
    assert.equal((await bench.tart.list())[0]?.state, 'running');
  });

  test('ip returns undefined before there is an address, and fails for a missing VM', async () => {
    bench.fake.controls.guest('vm', { address: 'none' });
    assert.equal(await bench.tart.ip('vm'), undefined);
    await start();
    assert.equal(await bench.tart.ip('vm'), undefined);
    await assert.rejects(bench.tart.ip('x'), (error) => isTartError(error, 'missing'));
    bench.fake.controls.command('ip', { answer: { code: 0, stdout: 'soon' } });
    await assert.rejects(bench.tart.ip('vm'), (error) => isTartError(error, 'unreadable'));
  });

  test('runs in its own session without a terminal, and is found by name, PID and start time (INC-02)', async () => {
    const vm = await start();
    const table = createProcessTable(process.env);
    await eventually('it shows its arguments', async () => (await table.find(vm.pid))?.command.includes('run vm'));
    const found = vmProcesses(await table.list(), [bench.fake.path]).filter(({ pid }) => pid === vm.pid);
    assert.deepEqual(found, [{ pid: vm.pid, startedAt: vm.startedAt, name: 'vm' }]);
    process.kill(-vm.pid, 0);
    assert.match(execFileSync('ps', ['-o', 'tty=', '-p', String(vm.pid)], { encoding: 'utf8' }), /^\?+\s*$/);
  });

  test('outlives the process that started it (INC-04)', async () => {
    const script = `
      const { createTart } = await import(${JSON.stringify(new URL('create-tart.ts', import.meta.url).href)});
      const tart = createTart({ path: ${JSON.stringify(bench.fake.path)}, environment: process.env });
      const vm = await tart.run('vm', { logFile: ${JSON.stringify(join(bench.folder, 'vm.log'))} });
      console.log(JSON.stringify(vm));
      process.kill(process.pid, 'SIGKILL');`;
    const agent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: bench.environment,
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    let said = '';
    agent.stdout.on('data', (text) => {
      said += String(text);
    });
    await once(agent, 'close');
    const started = JSON.parse(said) as RunningVm;
    await booted();
    const stopped = new AbortController();
    const exited = pollExit(started, {
      find: createProcessTable(process.env).find,
      clock: systemClock,
      pollMs: 10,
      signal: stopped.signal,
    });
    await bench.tart.stop('vm', { timeoutSeconds: 60 });
    assert.deepEqual(await ending({ ...started, exited }), { kind: 'stopped' });
  });

  test('writes a log that only the agent can read, and never through a symlink', async () => {
    const vm = await start();
    assert.equal(statSync(vm.logFile).mode & 0o777, 0o600);
    mkdirSync(join(bench.folder, 'logs'), { recursive: true });
    symlinkSync('/dev/null', join(bench.folder, 'logs', 'link.log'));
    await assert.rejects(bench.tart.run('vm', { logFile: join(bench.folder, 'logs', 'link.log') }), (error) =>
      isTartError(error, 'other'),
    );
  });

  test('stop is idempotent', async () => {
    const vm = await start();
    await booted();
    await bench.tart.stop('vm', { timeoutSeconds: 60 });
    assert.deepEqual(await ending(vm), { kind: 'stopped' });
    await bench.tart.stop('vm', { timeoutSeconds: 60 });
    await bench.tart.stop('x', { timeoutSeconds: 60 });
  });

  test('stop kills a VM that ignores SIGINT', async () => {
    bench.fake.controls.guest('vm', { stuck: true });
    const vm = await start();
    await booted();
    await bench.tart.stop('vm', { timeoutSeconds: 2 });
    assert.deepEqual(await ending(vm), { kind: 'killed', signal: 'SIGKILL' });
  });

  test('its exit cause is known although most endings exit with 0 (INC-409)', async () => {
    for (const [ends, kind] of [
      // First: all starts share the log, and after a VM that ran, a failure no longer counts as a failed start.
      [3, 'failed'],
      ['halt', 'halted'],
      ['error', 'crashed'],
      ['network', 'crashed'],
      ['kill', 'killed'],
    ] as const) {
      bench.fake.controls.guest('vm', { lifetimeMs: 10, ends });
      assert.equal((await ending(await start())).kind, kind, String(ends));
    }
  });

  test('reports why it did not start', async () => {
    bench.fake.addVm('two');
    bench.fake.addVm('three');
    const reason = async (name: string): Promise<string> => {
      const end = await ending(await start(name));
      return end.kind === 'failed' ? end.reason : end.kind;
    };
    bench.fake.controls.host({ guiSession: 'none' });
    assert.equal(await reason('vm'), 'no GUI session');
    bench.fake.controls.host({ guiSession: undefined, keychain: 'locked' });
    assert.equal(await reason('vm'), 'start refused');
    bench.fake.controls.host({ keychain: undefined });
    await start('vm');
    await booted('vm');
    assert.equal(await reason('vm'), 'already running');
    await start('two');
    await booted('two');
    assert.equal(await reason('three'), 'VM limit reached');
    assert.equal(await reason('missing'), 'missing');
    assert.match(readFileSync(join(bench.folder, 'logs', 'three.log'), 'utf8'), /other running VMs: (vm, two|two, vm)/);
  });

  test('cannot be deleted while it runs', async () => {
    await start();
    await booted();
    await assert.rejects(bench.tart.delete('vm'), (error) => isTartError(error, 'running'));
  });

  test('fails to start when tart is not installed', async () => {
    const driver = bench.driver({ path: '/nowhere/tart' });
    await assert.rejects(driver.run('vm', { logFile: join(bench.folder, 'log') }), (error) =>
      isTartError(error, 'not installed'),
    );
  });
});

describe('an adopted virtual machine', () => {
  const vm = { name: 'vm', pid: 7, startedAt: 1000, logFile: '' };

  test('counts as running while its PID and start time are found; a failed process listing changes nothing (INC-50)', async () => {
    const clock = manualClock();
    let look: () => Promise<{ pid: number; startedAt: number; command: string } | undefined> = async () => ({
      ...vm,
      command: '',
    });
    const looked: (() => void)[] = [];
    const find = () => {
      looked.shift()?.();
      return look();
    };
    const next = (): Promise<void> => new Promise((resolve) => looked.push(resolve));
    const first = next();
    const { signal } = new AbortController();
    const exited = pollExit(vm, { find, clock, pollMs: 1000, signal });
    let gone = false;
    void exited.then(() => {
      gone = true;
    });
    await first;
    const pass = async (): Promise<void> => {
      const looking = next();
      await eventually('it looks again', () => {
        clock.advance(1000);
        return looked.length === 0;
      });
      await looking;
    };
    await pass();
    look = () => Promise.reject(new TartError('unreadable', 'no', { command: 'ps' }));
    await pass();
    await pass();
    assert.equal(gone, false);
    look = async () => ({ pid: 7, startedAt: 900_000, command: 'another' });
    await pass();
    assert.equal((await exited).code, undefined);
  });
});

describe('exit cause of a virtual machine', () => {
  const lock = 'The number of VMs exceeds the system limit (other running VMs: a, b)';
  const notStarted =
    'Error Domain=VZErrorDomain Code=1 "The virtual machine failed to start." UserInfo={NSLocalizedFailure=Internal Virtualization error.}';
  const table: readonly (readonly [
    what: string,
    code: number | undefined,
    signal: string | undefined,
    log: string,
    kind: ExitCause['kind'],
  ])[] = [
    ['the guest shut down', 0, undefined, 'guest has stopped the virtual machine\n', 'halted'],
    ['somebody stopped it', 0, undefined, 'Stopping VM...\n', 'stopped'],
    [
      'the framework gave up, with exit code 0 (INC-409)',
      0,
      undefined,
      'guest has stopped the virtual machine due to error: x\n',
      'crashed',
    ],
    [
      'its network went, with exit code 0',
      0,
      undefined,
      // openai/tart VM.swift:474
      "virtual machine's network attachment <VZVirtioNetworkDevice: 0x600> has been disconnected with error: x\n",
      'crashed',
    ],
    [
      'unobserved end after a lost network',
      undefined,
      undefined,
      "virtual machine's network attachment <VZVirtioNetworkDevice: 0x600> has been disconnected with error: x\n",
      'crashed',
    ],
    ['no start, with an unknown message', 1, undefined, 'out of cheese\n', 'failed'],
    ['unobserved end without a start', undefined, undefined, `${notStarted}\n`, 'failed'],
    ['no slot', 1, undefined, lock, 'failed'],
    ['tart could not stop a guest that was on', 1, undefined, `Stopping VM...\n${notStarted}\n`, 'crashed'],
    ['a signal', undefined, 'SIGKILL', '', 'killed'],
    ['unobserved end without output', undefined, undefined, '', 'unknown'],
    ['unobserved end with a reason', undefined, undefined, lock, 'failed'],
    ['unobserved end after a stop', undefined, undefined, 'Stopping VM...\n', 'stopped'],
    ['0 without a word', 0, undefined, 'something else\n', 'unknown'],
  ];
  for (const [what, code, signal, log, kind] of table)
    test(what, () => assert.equal(exitCause({ code, signal }, log).kind, kind));

  test('a failure carries its reason and no secret', () => {
    const ending = exitCause({ code: 1, signal: undefined }, `VNC server is running at vnc://:secret@x\n${lock}\n`);
    assert.ok(ending.kind === 'failed');
    assert.equal(ending.reason, 'VM limit reached');
    assert.ok(!ending.message.includes('secret'));
  });

  test('is total', () => {
    fc.assert(
      fc.property(fc.option(fc.nat(255), { nil: undefined }), fc.string(), (code, log) => {
        assert.ok(exitCause({ code, signal: undefined }, log).kind.length > 0);
      }),
    );
  });
});
