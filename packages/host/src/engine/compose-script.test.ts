import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { neededScripts, scriptText, stripComments } from './compose-script.ts';

const names = readdirSync(join(import.meta.dirname, '../../scripts'))
  .filter((file) => file.endsWith('.sh'))
  .map((file) => file.replace(/\.sh$/, ''));

describe('a script without its comments', () => {
  test('has no comments and no blank lines', () => {
    assert.equal(stripComments("# why\n\n  # it's so\nls\n"), 'ls');
  });

  test('keeps the content of a here-document', () => {
    const script = "cat <<'END' >f\n# a marker\n\nEND\n# gone\nls";
    assert.equal(stripComments(script), script.replace('# gone\n', ''));
  });

  /** As bash prints the body of a function: without comments, with every string as it is. */
  const parsed = (script: string): string =>
    execFileSync('bash', ['-c', `parsed() {\n${script}\n}\ndeclare -f parsed`], { encoding: 'utf8' });

  for (const name of names) {
    test(`is the same program: ${name}.sh`, () => {
      assert.equal(parsed(stripComments(scriptText(name))), parsed(scriptText(name)));
    });
  }
});

describe('the included scripts of a script', () => {
  const functionsOf = (name: string): string[] =>
    [...scriptText(name).matchAll(/^(\w+)\(\)/gm)].map((match) => match[1] ?? '');
  const shared = [...new Set(names.map(scriptText).flatMap(neededScripts))];

  for (const name of names) {
    test(`are declared in ${name}.sh`, () => {
      const text = stripComments(scriptText(name));
      const called = shared.filter(
        (part) => part !== name && functionsOf(part).some((word) => new RegExp(`\\b${word}\\b`).test(text)),
      );
      assert.deepEqual(neededScripts(scriptText(name)).sort(), called.sort());
    });
  }
});
