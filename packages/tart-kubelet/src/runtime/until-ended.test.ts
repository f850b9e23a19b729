import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { untilEnded } from './until-ended.ts';

describe('output of a command', () => {
  test('that somebody holds open ends a moment after the command', async () => {
    const [clock, source, ended] = [manualClock(), new PassThrough(), Promise.withResolvers<void>()];
    const said = text(untilEnded(source, ended.promise, clock));
    source.write('all of it');
    clock.advance(60_000);
    await new Promise(setImmediate);
    ended.resolve();
    await new Promise(setImmediate);
    clock.advance(60_000);
    assert.equal(await said, 'all of it');
    assert.ok(source.destroyed);
  });

  test('that is still under way when the command has ended arrives', async () => {
    const source = new PassThrough();
    const said = text(untilEnded(source, Promise.resolve(), manualClock()));
    await new Promise(setImmediate);
    source.end('late');
    assert.equal(await said, 'late');
  });

  test('reaches a slow reader whole, however long ago the command has ended', async () => {
    const [clock, source] = [manualClock(), new PassThrough()];
    const output = untilEnded(source, Promise.resolve(), clock);
    const megabyte = Buffer.alloc(1024 * 1024);
    source.end(megabyte);
    let read = 0;
    for await (const chunk of output) {
      read += chunk.length;
      clock.advance(60_000);
      await new Promise(setImmediate);
    }
    assert.equal(read, megabyte.length);
  });
});
