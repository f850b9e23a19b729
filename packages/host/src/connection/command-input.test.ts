import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import type { ClientChannel } from 'ssh2';
import { bufferSize, oncePerTick, returnBuffer, sendInput, takeBuffer } from './command-input.ts';

test('a released buffer is used again, completely, and by one reader at a time', () => {
  const first = takeBuffer();
  assert.equal(first.length, bufferSize);
  const second = takeBuffer();
  assert.notEqual(second.buffer, first.buffer);
  const piece = first.subarray(10, 20);
  returnBuffer(piece);
  returnBuffer(piece);
  const [third, fourth] = [takeBuffer(), takeBuffer()];
  assert.equal(third.buffer, first.buffer);
  assert.equal(third.length, bufferSize);
  assert.notEqual(fourth.buffer, first.buffer, 'given back twice, and lent once');
});

test('a foreign buffer is never added to the pool', () => {
  const foreign = Buffer.alloc(bufferSize);
  returnBuffer(foreign);
  assert.notEqual(takeBuffer().buffer, foreign.buffer);
});

test('one write per tick of the event loop, in order, also for writes added meanwhile', async () => {
  const seen: string[] = [];
  const turns: string[] = [];
  oncePerTick(() => {
    seen.push('a');
    oncePerTick(() => seen.push('c'));
  });
  oncePerTick(() => seen.push('b'));
  assert.deepEqual(seen, [], 'never at once');
  for (let turn = 0; turn < 4; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    turns.push(seen.splice(0).join(' '));
  }
  assert.deepEqual(turns, ['a', 'b', 'c', '']);
});

test('the next chunk of an input is sent only when the socket has taken the previous one', async () => {
  const taken: (() => void)[] = [];
  const socket = new Writable({ write: (_piece, _encoding, done) => void taken.push(done) });
  let sent = 0;
  // Like a channel of ssh2 within the window of the host: it requests the next piece, however much waits in the socket.
  const channel = new Writable({
    write: (piece, _encoding, done) => {
      sent++;
      socket.write(piece);
      done();
    },
  });
  const ended = once(channel, 'finish');
  const waitsForDrain = (): Promise<void> =>
    new Promise((resolve) => {
      socket.on('newListener', (event) => event === 'drain' && resolve());
    });
  let waiting = waitsForDrain();
  const input = Readable.from([1, 2, 3].map(() => Buffer.alloc(bufferSize)));
  sendInput(input, channel as unknown as ClientChannel, socket as unknown as Socket, assert.ifError);
  for (const piece of [1, 2, 3]) {
    // An input that waits for nothing is sent to its end.
    await Promise.race([waiting, ended]);
    assert.equal(sent, piece);
    waiting = waitsForDrain();
    taken.shift()?.();
  }
  await ended;
});
