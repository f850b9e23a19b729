import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import type { ServerChannel } from 'ssh2';
import { connect } from './connect.ts';
import type { HostConnection, RemoteCommand } from './connection.ts';
import { createOutputTail } from './run-command.ts';
import { type CommandHandler, startServer, type TestServer } from './testing/ssh-server.ts';

const exit = (channel: ServerChannel, code: number): void => {
  channel.exit(code);
  channel.end();
};

describe('a command on a host', () => {
  let server: TestServer;
  let clock: ManualClock;
  let connection: HostConnection;
  before(async () => {
    server = await startServer();
  });
  after(() => server.stop());
  beforeEach(async () => {
    clock = manualClock();
    server.maxSessions = 10;
    const { address, privateKey } = server;
    const outcome = await connect({ addresses: [address], user: 'm1', privateKey, clock });
    assert(outcome.kind === 'connected');
    connection = outcome.connection;
  });
  afterEach(() => connection.close());

  const run = (more: Partial<RemoteCommand> = {}, signal?: AbortSignal) =>
    connection.run({ command: 'true', deadline: 60_000, ...more }, signal);
  /** Resolves with the next command's channel and session, which the test drives. */
  const started = (): Promise<Parameters<CommandHandler>> =>
    new Promise((resolve) => {
      server.onCommand = (...played) => resolve(played);
    });

  test('that succeeds is done, with its output', async () => {
    server.onCommand = (channel, _session, command) => {
      channel.write(`ran ${command}`);
      channel.stderr.write('a warning');
      exit(channel, 0);
    };
    assert.deepEqual(await run({ command: 'one two' }), { kind: 'done', stdout: 'ran one two', stderr: 'a warning' });
  });

  test('that fails has its exit code', async () => {
    server.onCommand = (channel) => {
      channel.stderr.write('no');
      exit(channel, 75);
    };
    assert.deepEqual(await run(), { kind: 'command failed', code: 75, stdout: '', stderr: 'no' });
  });

  test('that is killed has its signal', async () => {
    server.onCommand = (channel) => {
      channel.exit('KILL' as never, false, 'killed');
      channel.end();
    };
    assert.deepEqual(await run(), { kind: 'command failed', signal: 'KILL', stdout: '', stderr: '' });
  });

  test('gets its complete input, and then its end', async () => {
    const input = Buffer.alloc(5_000_000, 'abcdefghijklmnop');
    server.onCommand = (channel) => {
      const pieces: Buffer[] = [];
      channel.on('data', (piece: Buffer) => pieces.push(piece));
      channel.on('end', () => exit(channel, Buffer.concat(pieces).equals(input) ? 0 : 1));
    };
    assert.equal(
      (await run({ stdin: () => Readable.from([input.subarray(0, 100), input.subarray(100)]) })).kind,
      'done',
    );
  });

  test('without an input reads an empty one', async () => {
    server.onCommand = (channel) => {
      channel.on('data', () => exit(channel, 1));
      channel.on('end', () => exit(channel, 0));
    };
    assert.equal((await run()).kind, 'done');
  });

  test('applies backpressure when the host does not read its input', async () => {
    const playing = started();
    let read = 0;
    const input = new Readable({
      highWaterMark: 1024 * 1024,
      read() {
        if (read < 64) this.push(Buffer.alloc(1024 * 1024));
        else this.push(null);
        read++;
      },
    });
    const outcome = run({ stdin: () => input });
    const [channel] = await playing;
    channel.pause();
    // Until nothing moves any more: the window of the host (2 MB) and the buffers of both kernels are full.
    // Without backpressure the input is read to its end without a wait for a socket.
    for (let quiet = 0, last = 0; quiet < 50; quiet = read === last ? quiet + 1 : 0) {
      last = read;
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert(read < 32, `${read} MB were read for a host that takes nothing`);
    channel.resume();
    channel.on('end', () => exit(channel, 0));
    assert.equal((await outcome).kind, 'done');
    assert(input.destroyed);
  });

  test("is terminated with 'input failed' when its input cannot be read", async () => {
    const playing = started();
    const input = new PassThrough();
    const outcome = run({ stdin: () => input });
    const [channel] = await playing;
    server.signals.length = 0;
    const ended = once(channel, 'end');
    input.write('half');
    await once(channel, 'data');
    input.destroy(new Error('the file is gone'));
    assert.deepEqual(await outcome, { kind: 'input failed', cause: 'the file is gone', stdout: '', stderr: '' });
    await ended;
    assert.deepEqual(server.signals, ['TERM'], 'half an input must not look like a whole one');
  });

  test('whose input cannot be opened is terminated too', async () => {
    server.onCommand = () => {};
    const stdin = () => {
      throw new Error('no such file');
    };
    assert.deepEqual(await run({ stdin }), { kind: 'input failed', cause: 'no such file', stdout: '', stderr: '' });
  });

  test('that exits before it has read its input has its exit code', async () => {
    server.onCommand = (channel) => exit(channel, 3);
    const input = new PassThrough();
    input.write('never read');
    assert.deepEqual(await run({ stdin: () => input }), { kind: 'command failed', code: 3, stdout: '', stderr: '' });
    assert(input.destroyed);
  });

  test('keeps the end of a long output', async () => {
    server.onCommand = (channel) => {
      channel.write('x'.repeat(100_000));
      channel.stderr.write(Buffer.concat([Buffer.alloc(100_000, 0xff), Buffer.from('the reason')]));
      channel.write('the end', () => exit(channel, 1));
    };
    const { stdout, stderr } = await run();
    assert.equal(stdout.length, 64 * 1024);
    assert.match(stdout, /the end$/);
    assert.match(stderr, /the reason$/);
  });

  test('whose channel is closed without an exit status has an unknown result', async () => {
    server.onCommand = (channel) => channel.close();
    assert.deepEqual(await run(), {
      kind: 'connection lost',
      cause: 'the host closed the channel without an exit status',
      stdout: '',
      stderr: '',
    });
  });

  test('that exceeds its deadline is terminated, and not waited for', async () => {
    for (const stdin of [undefined, () => new PassThrough()]) {
      server.signals.length = 0;
      const playing = started();
      const outcome = run({ deadline: 5_000, ...(stdin && { stdin }) });
      const [channel] = await playing;
      const closed = once(channel.resume(), 'close');
      // It has seen the end of its input, if it has one.
      if (stdin === undefined) await once(channel, 'end');
      clock.advance(5_000);
      assert.deepEqual(await outcome, { kind: 'timed out', after: 5_000, stdout: '', stderr: '' });
      await closed;
      assert.deepEqual(server.signals, ['TERM']);
    }
  });

  test('that has exited is done, even if a background process holds its channel open', async () => {
    const playing = started();
    const outcome = run({ deadline: 5_000 });
    const [channel] = await playing;
    channel.exit(0);
    // One connection delivers in order: after this command the exit status has arrived.
    server.onCommand = (next) => exit(next, 0);
    await run();
    clock.advance(5_000);
    assert.equal((await outcome).kind, 'done');
  });

  test('can be aborted before and while it runs', async () => {
    const playing = started();
    const controller = new AbortController();
    const outcome = run({}, controller.signal);
    await playing;
    controller.abort();
    assert.deepEqual(await outcome, { kind: 'aborted', stdout: '', stderr: '' });
    server.onCommand = () => assert.fail('an aborted command was sent');
    assert.deepEqual(await run({}, controller.signal), { kind: 'aborted', stdout: '', stderr: '' });
  });

  test('ends when the connection breaks during its input', async () => {
    server.onCommand = (channel) => {
      let bytes = 0;
      channel.on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (bytes > 1_000_000) server.cut();
      });
    };
    const input = Readable.from(Array.from({ length: 100 }, () => Buffer.alloc(100_000)));
    const idle = run({ stdin: () => new PassThrough() });
    assert.equal((await run({ stdin: () => input })).kind, 'connection lost');
    assert.equal((await idle).kind, 'connection lost', 'as do all others');
    assert(input.destroyed);
    assert.equal((await run()).kind, 'connection lost', 'and those that come later');
  });

  test('ends when the connection is closed on our side, also twice', async () => {
    const playing = started();
    const outcome = run();
    await playing;
    await Promise.all([connection.close(), connection.close()]);
    assert.deepEqual(await outcome, {
      kind: 'connection lost',
      cause: 'the connection was closed on our side',
      stdout: '',
      stderr: '',
    });
    assert.equal((await run()).kind, 'connection lost');
  });

  test('that the host does not start has failed, with the reason', async () => {
    server.maxSessions = 0;
    const outcome = await run();
    assert(outcome.kind === 'command failed');
    assert.match(outcome.stderr, /the host did not start the command: .*open fail/i);
  });

  test('queues for a session slot, and its deadline counts meanwhile', async () => {
    const channels: ServerChannel[] = [];
    let most = 0;
    const eight = Promise.withResolvers<void>();
    server.onCommand = (channel) => {
      channels.push(channel);
      most = Math.max(most, channels.length);
      if (channels.length === 8) eight.resolve();
    };
    const first = Array.from({ length: 8 }, () => run());
    const late = run({ deadline: 1_000 });
    const patient = run({ deadline: 100_000 });
    await eight.promise;
    clock.advance(1_000);
    assert.equal((await late).kind, 'timed out');
    server.onCommand = (channel) => exit(channel, 0);
    for (const channel of channels) exit(channel, 0);
    for (const outcome of await Promise.all([...first, patient])) assert.equal(outcome.kind, 'done');
    assert.equal(most, 8);
  });

  test('leaks no listener or channel: hundreds on one connection', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    const controller = new AbortController();
    server.onCommand = (channel) => {
      channel.resume();
      exit(channel, 0);
    };
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, () => run({ stdin: () => Readable.from(['x']) }, controller.signal)),
    );
    process.off('warning', onWarning);
    assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set(['done']));
    assert.deepEqual(warnings, []);
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
  });
});

test('a host that stops answering is detected by keepalives', async () => {
  const server = await startServer({ play: () => server.freeze() });
  try {
    const { address, privateKey } = server;
    const keepalive = { interval: 5, misses: 2 };
    const outcome = await connect({ addresses: [address], user: 'm1', privateKey, keepalive });
    assert(outcome.kind === 'connected');
    const ended = await outcome.connection.run({ command: 'hang', deadline: 600_000 });
    assert.deepEqual(ended, { kind: 'connection lost', cause: 'Keepalive timeout', stdout: '', stderr: '' });
    await outcome.connection.close();
  } finally {
    await server.stop();
  }
});

const textOf = (cap: number, ...pieces: (string | number[])[]): string => {
  const tail = createOutputTail(cap);
  for (const piece of pieces) tail.add(Buffer.from(piece as string));
  return tail.text();
};

test('output that fits is kept completely, else its end', () => {
  assert.equal(textOf(4), '');
  assert.equal(textOf(4, 'ab', 'cd'), 'abcd');
  assert.equal(textOf(4, 'ab', 'cd', 'e'), 'bcde');
  assert.equal(textOf(4, 'abcdefgh'), 'efgh');
});

test('a character is never cut in two', () => {
  assert.equal(textOf(4, 'ä', 'bcd'), 'bcd');
  assert.equal(textOf(4, '🙂', 'x'), 'x');
  assert.equal(textOf(4, [0xc3], [0xa4], 'b'), 'äb', 'also when it arrives in two pieces');
});

test('invalid UTF-8 does not affect the rest of the output', () => {
  assert.equal(textOf(8, [0xff, 0xfe], 'why'), '\ufffd\ufffdwhy');
  assert.equal(textOf(4, [0x80, 0x80, 0x80, 0x80, 0x80, 0x80]), '\ufffd', 'at most one character is left out');
});
