import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { envFile } from './env-file.ts';

/** As a guest reads it: docs/guest.md. */
const decode = (text: string): [string, string][] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const equals = line.indexOf('=');
      const value = line
        .slice(equals + 1)
        .replaceAll(/\\(.)/g, (_, character: string) => ({ n: '\n', r: '\r' })[character] ?? character);
      return [line.slice(0, equals), value];
    });

describe('the file of variables', () => {
  it('has one line for each, by name', () => {
    assert.equal(
      envFile(
        new Map([
          ['B', '2'],
          ['A', 'a=b "c" $d'],
          ['C', ''],
        ]),
      ),
      'A=a=b "c" $d\nB=2\nC=\n',
    );
    assert.equal(envFile(new Map()), '');
  });

  it('tells a backslash and an n from the end of a line (G25)', () => {
    assert.equal(
      envFile(
        new Map([
          ['A', 'x\\n'],
          ['B', 'x\n'],
          ['C', 'x\r\n'],
        ]),
      ),
      'A=x\\\\n\nB=x\\n\nC=x\\r\\n\n',
    );
  });

  it('gives every value back as it was', () => {
    const name = fc.stringMatching(/^[-._A-Za-z][-._A-Za-z0-9]{0,8}$/);
    const value = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: fc.constantFrom('\\', 'n', 'r', '\n', '\r', '=', ' ', '"') }),
    );
    fc.assert(
      fc.property(fc.dictionary(name, value), (variables) => {
        const entries = Object.entries(variables).filter(([, text]) => !text.includes('\0'));
        const text = envFile(new Map(entries));
        assert.deepEqual(
          decode(text),
          entries.toSorted(([one], [other]) => (one < other ? -1 : 1)),
        );
        assert.equal(envFile(new Map(entries.toReversed())), text);
      }),
    );
  });
});
