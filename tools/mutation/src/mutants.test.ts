import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mutantsOf } from './mutants.ts';

describe('the mutants of a file', () => {
  const table: readonly [source: string, mutated: readonly string[]][] = [
    ['const a = b < c;', ['b <= c', 'b >= c']],
    ['const a = b === c;', ['b !== c']],
    ['const a = b && c;', ['b || c']],
    ['const a = b ?? c;', ['c', 'b']],
    ['const a = !b;', ['b']],
    ['const a = b ? c : d;', ['!(b)']],
    ['const a = b === c ? d : e;', ['b !== c']],
    ['const a = true;', ['false']],
    ["const a: 'x' | 'y' = 'x';", ["''"]],
    ["const a = { 'x': 'What a person reads, in a sentence.' };", []],
    ["import { a } from './a.ts';", []],
    ['const a = b + 1;', ['b - 1']],
    ["const a = b + 'x y, z';", []],
    ['const a = [b];', ['[]']],
    ['const a = b.filter(c);', ['b']],
    ['const a = b.some(c);', ['b.every(c)']],
    ['const a = b?.c;', ['b.c']],
    ['const a = b?.[0];', ['b[0]']],
    ['const a = b?.();', ['b()']],
    ['const a = (b: string): string => b;', ['(b: string): string => undefined']],
    ['function a() { return b; }', ['return undefined;']],
    ['a();', [';']],
    ['const a = !b; // mutation: equivalent, as b is a constant', []],
  ];
  for (const [source, mutated] of table)
    test(`${source} has ${mutated.length}`, () =>
      assert.deepEqual(
        mutantsOf(source).map((mutant) => mutant.mutated),
        mutated,
      ));

  test('have a position, a line and a text', () => {
    const [mutant] = mutantsOf('// First.\nconst a = !b;\n');
    assert.deepEqual(mutant, { start: 20, end: 21, text: '', line: 2, original: '!b', mutated: 'b' });
  });

  test('cannot be made of a file with a syntax error', () => {
    assert.throws(() => mutantsOf('const ='), SyntaxError);
  });
});
