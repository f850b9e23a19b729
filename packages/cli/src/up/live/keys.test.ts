import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { listenForKeys } from './keys.ts';

const keyboard = () => {
  const told: string[] = [];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (on: boolean) => void told.push(on ? 'raw' : 'cooked'),
  });
  const end = listenForKeys(stdin, { enter: () => void told.push('enter'), stop: () => void told.push('stop') });
  return { told, end, press: (keys: string) => void stdin.emit('data', Buffer.from(keys)) };
};

const cases: readonly [what: string, keys: string, told: readonly string[]][] = [
  ['Enter', '\r', ['enter']],
  ['Enter twice at once', '\r\n', ['enter', 'enter']],
  ['other keys', 'ax \u001B[A', []],
  ['q, and nothing after it', 'q\r', ['cooked', 'stop']],
  ['Ctrl-C', '\u0003', ['cooked', 'stop']],
  ['Ctrl-D', '\u0004', ['cooked', 'stop']],
];
for (const [what, keys, told] of cases)
  test(`keys: ${what}`, () => {
    const { press, told: heard } = keyboard();
    press(keys);
    assert.deepEqual(heard, ['raw', ...told]);
  });

test('stops listening and restores the terminal mode', () => {
  const { press, end, told } = keyboard();
  end();
  press('\rq');
  assert.deepEqual(told, ['raw', 'cooked']);
});
