import assert from 'node:assert/strict';
import { appendFileSync, lstatSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type Clock, manualClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { hostilePrograms } from '@tartan/sim-mac';
import { isTartError, type ProcessIdentity } from '@tartan/tart';
import { rawOutputPath, rotatedPath } from '../logs/log-files.ts';
import { readLogRecords } from '../logs/read-log.ts';
import { createRunHarness, type RunHarness, type TestAgent } from './testing/harness.ts';
import { startKillableAgent } from './testing/killed-agent.ts';
import type { VmRun, VmRuns } from './vm-runs.ts';

const share = '"Volumes/My Shared Files/status/runner.log"';

describe('the runs of virtual machines', () => {
  let bench: RunHarness;
  let agent: TestAgent;
  let runs: VmRuns;
  beforeEach(() => {
    bench = createRunHarness();
    agent = bench.agent();
    ({ runs } = agent);
  });
  afterEach(() => bench.remove());

  const start = (): Promise<ProcessIdentity> => runs.start(bench.run, bench.shares);
  const ended = (one = agent): Promise<true> => eventually('its end is reported', () => one.exits.length > 0);
  const raw = (): string => rawOutputPath(bench.files.pathOf(bench.run));
  const another = (): TestAgent => {
    agent = bench.agent();
    ({ runs } = agent);
    return agent;
  };
  const kindOf = async (run: VmRun = bench.run): Promise<string> => (await runs.lastRun(run, true)).ending.kind;

  test('have their own log, and report their exit once, with code and time (INC-22)', async () => {
    assert.equal((await runs.lastRun(bench.run, true)).started, false);
    const enough = join(bench.folder, 'enough');
    bench.fake.controls.guest('vm', {
      program: `echo hello >>${share}; until [ -e '${enough}' ]; do sleep 0.02; done; shutdown -h now`,
    });
    await start();
    assert.equal((await runs.lastRun(bench.run, true)).started, true);
    assert.equal((await runs.lastRun(bench.run, true)).exitedAt, undefined);
    writeFileSync(enough, '');
    await ended();
    assert.deepEqual(agent.exits, ['uid-1']);
    const { exitedAt, ...remains } = await runs.lastRun(bench.run, true);
    assert.deepEqual(remains, { started: true, exitCode: 0, ending: { kind: 'halted' } });
    assert.ok(exitedAt !== undefined);
    assert.equal(runs.isLogFinished(bench.run), false);
    await runs.finishLog(bench.run);
    await runs.finishLog(bench.run);
    assert.equal(runs.isLogFinished(bench.run), true);
    assert.equal(bench.text('stdout'), 'hello\n');
    assert.equal(bench.text('stderr'), 'guest has stopped the virtual machine\n');
  });

  test('start creates the log folder, and rejects with a TartError when it cannot', async () => {
    await start();
    assert.equal(statSync(dirname(raw())).mode & 0o777, 0o700);
    writeFileSync(join(bench.folder, 'logs', 'uid-2'), 'in the way');
    await assert.rejects(runs.start({ ...bench.run, podUID: 'uid-2' }, []), (error) => isTartError(error, 'other'));
  });

  test('copy the output of the guest and of tart while they run', async () => {
    bench.fake.controls.guest('vm', { program: `echo one >>${share}` });
    await start();
    await eventually('the guest is logged', () => bench.text('stdout') === 'one\n');
    appendFileSync(raw(), 'said by tart\n');
    await eventually('tart is logged', () => bench.text('stderr') === 'said by tart\n');
    appendFileSync(join(bench.status, 'runner.log'), 'two\nhalf');
    await eventually('the guest is logged again', () => bench.text('stdout') === 'one\ntwo\n');
  });

  test('keep an unfinished last line, and end followers of the log', { timeout: 60_000 }, async () => {
    await start();
    appendFileSync(join(bench.status, 'runner.log'), 'first\nno line end');
    const path = bench.files.pathOf(bench.run);
    const followed = (async () => {
      const { signal } = new AbortController();
      const follow = { notifier: agent.changes, ended: () => runs.isLogFinished(bench.run), signal };
      let text = '';
      for await (const records of readLogRecords(path, { follow }))
        for (const record of records) text += record.text.toString() + (record.full ? '|' : '');
      return text;
    })();
    await runs.finishLog(bench.run);
    assert.equal(await followed, 'first|no line end|');
  });

  test('redact the VNC address and password, also across chunks', async () => {
    await start();
    appendFileSync(raw(), 'before\nVNC server is running at vnc://:one-two');
    await eventually('the first chunk is read', () => bench.text('stderr').includes('before'));
    appendFileSync(raw(), '-three@127.0.0.1:5900...\ntoken=abcdef x\nplain \xff\n', 'latin1');
    await eventually('it is there', () => bench.text('stderr').includes('plain'));
    assert.equal(bench.text('stderr').includes('three'), false);
    assert.match(bench.text('stderr'), /at vnc:\/\/<redacted>\ntoken=<redacted> x\nplain/);
  });

  test('that tart refuses report the reason, and leave nothing after undoStart', async () => {
    bench.fake.controls.host({ guiSession: 'none' });
    await start();
    await ended();
    const { ending, exitCode } = await runs.lastRun(bench.run, true);
    assert.ok(ending.kind === 'failed' && ending.reason === 'no GUI session');
    assert.equal(exitCode, 1);
    await eventually('it is in the log', () => bench.text('stderr') !== '');
    await runs.undoStart(bench.run);
    await runs.undoStart(bench.run);
    assert.deepEqual(await runs.lastRun(bench.run, true), {
      started: false,
      exitedAt: undefined,
      exitCode: undefined,
      ending: { kind: 'unknown' },
    });
    assert.deepEqual(readdirSync(join(bench.folder, 'logs', 'uid-1', 'runner')), []);
    bench.fake.controls.host({ guiSession: undefined });
    await start();
    assert.equal((await runs.lastRun(bench.run, true)).started, true);
  });

  test('wait for the exit code when the process is gone but its exit event has not arrived', async () => {
    const { pid } = await start();
    process.kill(pid, 'SIGKILL');
    // In the same turn: no event can have arrived in between.
    const { ending } = await runs.lastRun(bench.run, false);
    assert.deepEqual(ending, { kind: 'killed', signal: 'SIGKILL' });
  });

  test('that cannot be started reject with a TartError', async () => {
    writeFileSync(join(bench.folder, 'logs'), 'a file where a folder should be');
    await assert.rejects(start(), (error) => isTartError(error, 'other'));
  });

  test('are watched by the next agent, which sees their exit without a code (INC-04, INC-22)', async () => {
    bench.fake.controls.guest('vm', { program: `echo before >>${share}` });
    const process = await start();
    await eventually('the guest is logged', () => bench.text('stdout') === 'before\n');
    await agent.stop();
    assert.equal(agent.exits.length, 0);
    appendFileSync(join(bench.status, 'runner.log'), 'between\n');
    another();
    runs.watch(bench.run, process);
    runs.watch(bench.run, process);
    await eventually('the output between is logged', () => bench.text('stdout') === 'before\nbetween\n');
    globalThis.process.kill(process.pid, 'SIGINT');
    await ended();
    const { exitedAt, ...remains } = await runs.lastRun(bench.run, true);
    assert.deepEqual(remains, { started: true, exitCode: undefined, ending: { kind: 'stopped' } });
    assert.ok(exitedAt !== undefined);
    assert.deepEqual(agent.exits, ['uid-1']);
  });

  test('that ended while no agent ran have a result, without exit code and time', async () => {
    bench.fake.controls.guest('vm', { program: `echo up >>${share}` });
    const process = await start();
    await eventually('it is up', () => bench.text('stdout') === 'up\n');
    await agent.stop();
    globalThis.process.kill(process.pid, 'SIGINT');
    another();
    await eventually('it wrote its last word', async () => (await kindOf()) === 'stopped');
    assert.equal((await runs.lastRun(bench.run, true)).exitedAt, undefined);
    await runs.finishLog(bench.run);
    assert.equal(bench.text('stderr'), 'Stopping VM...\n');
    await agent.stop();
    another();
    assert.equal(runs.isLogFinished(bench.run), true);
    await runs.finishLog(bench.run);
    await agent.stop();
    another();
    runs.watch(bench.run, process);
    assert.equal(runs.isLogFinished(bench.run), true);
    assert.equal(bench.text('stderr'), 'Stopping VM...\n');
  });

  test('lose no log line when the agent is killed, and repeat at most one chunk (INC-04)', async () => {
    bench.fake.controls.guest('vm', {
      program: `i=0; while [ $i -lt 1500 ]; do echo line-$i; i=$((i+1)); [ $((i%50)) -ne 0 ] || sleep 0.05; done >>${share}; echo over >>${share}`,
    });
    const process = await start();
    await agent.stop();
    let tartSaid = 0;
    const deaths = 3;
    for (let death = 0; death < deaths; death++) {
      const mortal = await startKillableAgent(join(bench.folder, 'logs'), bench.status, bench.run, process);
      for (let each = 0; each < 6; each++) {
        const lastLine = `tart-${tartSaid - 1} `;
        for (let line = 0; line < 200; line++) appendFileSync(raw(), `tart-${tartSaid++} ${'x'.repeat(20)}\n`);
        if (each > 0) await eventually('what came before is copied', () => bench.text('stderr').includes(lastLine));
      }
      await mortal.kill();
    }
    another();
    runs.watch(bench.run, process);
    await eventually('all is there', () => bench.text('stdout').endsWith('over\n'));
    globalThis.process.kill(process.pid, 'SIGINT');
    await ended();
    await runs.finishLog(bench.run);
    for (const [stream, name, count] of [
      ['stdout', 'line', 1500],
      ['stderr', 'tart', tartSaid],
    ] as const) {
      const numbers = [...bench.text(stream).matchAll(new RegExp(`^${name}-(\\d+)`, 'gm'))].map(([, digits]) =>
        Number(digits),
      );
      let [next, previous, stepsBack] = [0, -1, 0];
      for (const number of numbers) {
        assert.ok(number <= next, `${name}-${next} is there before ${name}-${number}`);
        if (number <= previous) stepsBack += 1;
        previous = number;
        next = Math.max(next, number + 1);
      }
      assert.equal(next, count, `all of ${name}`);
      assert.ok(stepsBack <= deaths, `${stepsBack} times back for ${deaths} deaths`);
    }
    assert.equal(await kindOf(), 'stopped');
  });

  test('are removed with their Pod, and write nothing afterwards', async () => {
    await start();
    appendFileSync(join(bench.status, 'runner.log'), 'text\n');
    await eventually('the guest is logged', () => bench.text('stdout') !== '');
    await runs.removeLogs('uid-1');
    await runs.removeLogs('uid-1');
    appendFileSync(join(bench.status, 'runner.log'), 'more\n');
    await agent.stop();
    assert.deepEqual(readdirSync(join(bench.folder, 'logs')), []);
    assert.equal((await runs.lastRun(bench.run, true)).started, false);
  });

  test('with endless output keep two log generations, and their result is still known (INC-423)', async () => {
    await agent.stop();
    agent = bench.agent({ maxBytes: 20_000, maxRawBytes: 5_000 });
    ({ runs } = agent);
    bench.fake.controls.guest('vm', { program: `echo up >>${share}` });
    const process = await start();
    await eventually('it is up', () => bench.text('stdout') === 'up\n');
    for (let line = 0; line < 2000; line += 50) {
      const lines = Array.from({ length: 50 }, (_, at) => `tart-${line + at} ${'x'.repeat(20)}\n`);
      appendFileSync(raw(), lines.join(''));
      await eventually('it is copied', () => bench.text('stderr').includes(`tart-${line + 49} `));
    }
    await eventually('it is cut', () => statSync(raw()).size === 0);
    const path = bench.files.pathOf(bench.run);
    assert.ok(statSync(path).size <= 20_000 && statSync(rotatedPath(path)).size <= 20_000);
    // No line is duplicated, though the file was truncated many times.
    const numbers = [...bench.text('stderr').matchAll(/tart-(\d+)/g)].map(([, digits]) => Number(digits));
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].sort((a, b) => a - b),
    );
    appendFileSync(raw(), `${'y'.repeat(6_000)}\nVM "vm" is already running!\n`);
    await eventually('it is cut again', () => statSync(raw()).size === 0);
    globalThis.process.kill(process.pid, 'SIGKILL');
    await ended();
    await agent.stop();
    another();
    const { ending } = await runs.lastRun(bench.run, true);
    assert.ok(ending.kind === 'failed' && ending.reason === 'already running', JSON.stringify(ending));
  });

  test('are polled once a second when idle, and ten times a second while they are written', async () => {
    await agent.stop();
    const clock = manualClock();
    const pending = new Set<object>();
    const counting: Clock = {
      ...clock,
      after: (milliseconds, run) => {
        const entry = {};
        pending.add(entry);
        const takeBack = clock.after(milliseconds, () => {
          pending.delete(entry);
          run();
        });
        return () => {
          pending.delete(entry);
          takeBack();
        };
      },
    };
    const waits = (): Promise<true> => eventually('it waits', () => pending.size === 1);
    agent = bench.agent({ clock: counting, pollMs: 1_000 });
    ({ runs } = agent);
    await start();
    await waits();
    const guestSays = (text: string): void => appendFileSync(join(bench.status, 'runner.log'), text);
    /** Advances the clock and waits until the agent has copied everything and waits again. */
    const advance = async (milliseconds: number): Promise<void> => {
      clock.advance(milliseconds);
      await waits();
    };
    guestSays('one\n');
    appendFileSync(raw(), 'said by tart\n');
    await advance(999);
    assert.equal(bench.text('stdout'), '');
    await advance(1);
    assert.deepEqual([bench.text('stdout'), bench.text('stderr')], ['one\n', 'said by tart\n']);
    guestSays('two\n');
    await advance(100);
    assert.equal(bench.text('stdout'), 'one\ntwo\n');
    await advance(100);
    guestSays('three\n');
    await advance(999);
    assert.equal(bench.text('stdout'), 'one\ntwo\n');
    await advance(1);
    assert.equal(bench.text('stdout'), 'one\ntwo\nthree\n');
    await agent.stop();
    assert.equal(pending.size, 0);
  });

  for (const [what, program] of Object.entries(hostilePrograms('runner.log')))
    test(`with a hostile guest log end normally: ${what} (INC-34)`, { timeout: 60_000 }, async () => {
      bench.fake.controls.guest('vm', { program: `${program}; echo up >"Volumes/My Shared Files/status/up"` });
      await start();
      await eventually(
        'it is there',
        () => lstatSync(join(bench.status, 'runner.log'), { throwIfNoEntry: false }) !== undefined,
      );
      await runs.finishLog(bench.run);
      assert.equal(runs.isLogFinished(bench.run), true);
      assert.equal(bench.text('stdout').includes('root:'), false);
      assert.ok(bench.text('stdout').length <= 25 * 1024 * 1024);
    });

  test('of restarts have a log each, and only the last two are kept', async () => {
    bench.fake.controls.guest('vm', { lifetimeMs: 10 });
    for (const run of [0, 1, 2]) {
      await runs.start({ ...bench.run, run }, bench.shares);
      await eventually('it ended', () => agent.exits.length === run + 1);
      await runs.finishLog({ ...bench.run, run });
    }
    const left = readdirSync(join(bench.folder, 'logs', 'uid-1', 'runner')).sort();
    assert.deepEqual(left, ['1.copied', '1.log', '1.raw', '2.copied', '2.log', '2.raw']);
  });
});
