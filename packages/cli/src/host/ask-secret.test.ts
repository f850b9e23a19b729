import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { askSecret, NotAnsweredError } from './ask-secret.ts';

/** A terminal as far as the question needs one. */
const terminal = () => {
  const raw: boolean[] = [];
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (on: boolean) => raw.push(on) });
  const output = new PassThrough();
  const chunks: string[] = [];
  output.on('data', (chunk: Buffer) => chunks.push(String(chunk)));
  const shown = (): string => chunks.join('');
  /** Whether the terminal still echoed when something was first written to it. */
  let echoedAtFirst: boolean | undefined;
  const write = output.write.bind(output);
  output.write = (chunk: string) => {
    echoedAtFirst ??= raw.at(-1) !== true;
    return write(chunk);
  };
  return { input, output, raw, shown, echoedAtFirst: () => echoedAtFirst };
};

describe('a secret typed on a terminal', () => {
  const typed: readonly (readonly [string, string, string])[] = [
    ['as it is', "pa'ss$wörd\r", "pa'ss$wörd"],
    ['with a key taken back', 'pasx\u007Fs\r', 'pass'],
    ['begun anew', 'wrong\u0015right\r', 'right'],
    ['that is empty', '\r', ''],
    ['with spaces', ' a b \r', ' a b '],
  ];
  for (const [what, keys, expected] of typed) {
    test(`is read ${what}, and never echoed`, async () => {
      const { input, output, raw, shown, echoedAtFirst } = terminal();
      const answer = askSecret('Password: ', { input, output });
      input.write(keys);
      assert.equal(await answer, expected);
      assert.equal(shown(), 'Password: \n');
      assert.equal(echoedAtFirst(), false);
      assert.deepEqual(raw, [true, false]);
      assert.equal(input.listenerCount('data'), 0);
    });
  }

  for (const [key, name] of [
    ['\u0003', 'Ctrl-C'],
    ['\u0004', 'Ctrl-D'],
  ] as const) {
    test(`${name} aborts, and restores the terminal`, async () => {
      const { input, output, raw } = terminal();
      const answer = askSecret('Password: ', { input, output });
      input.write(key);
      await assert.rejects(answer, NotAnsweredError);
      assert.deepEqual(raw, [true, false]);
    });
  }
});

describe('a secret from a pipe', () => {
  test('is the first line', async () => {
    const input = new PassThrough();
    input.end('secret\r\nother\n');
    assert.equal(await askSecret('Password: ', { input, output: new PassThrough() }), 'secret');
  });

  test('an empty input is rejected', async () => {
    const input = new PassThrough();
    input.end();
    await assert.rejects(askSecret('Password: ', { input, output: new PassThrough() }), /standard input is empty/);
  });
});
