import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { listenForKeys } from './keys.ts';

const keyboard = () => {
  const actions: string[] = [];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (on: boolean) => void actions.push(on ? 'raw' : 'cooked'),
  });
  const end = listenForKeys(stdin, { enter: () => void actions.push('enter'), stop: () => void actions.push('stop') });
  return { actions, end, press: (keys: string) => void stdin.emit('data', Buffer.from(keys)) };
};

const cases: readonly [what: string, keys: string, actions: readonly string[]][] = [
  ['Enter', '\r', ['enter']],
  ['Enter twice at once', '\r\n', ['enter', 'enter']],
  ['other keys', 'ax \u001B[A', []],
  ['q, and nothing after it', 'q\r', ['cooked', 'stop']],
  ['Ctrl-C', '\u0003', ['cooked', 'stop']],
  ['Ctrl-D', '\u0004', ['cooked', 'stop']],
];
for (const [what, keys, actions] of cases)
  test(`keys: ${what}`, () => {
    const { press, actions: seen } = keyboard();
    press(keys);
    assert.deepEqual(seen, ['raw', ...actions]);
  });

test('stops listening and restores the terminal mode', () => {
  const { press, end, actions } = keyboard();
  end();
  press('\rq');
  assert.deepEqual(actions, ['raw', 'cooked']);
});
