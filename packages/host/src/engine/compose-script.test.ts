import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hostSteps } from '../steps/index.ts';
import { scriptText, sharedScripts, stripComments } from './compose-script.ts';

describe('a script without its comments', () => {
  test('has no comments and no blank lines', () => {
    assert.equal(stripComments("# why\n\n  # it's so\nls\n"), 'ls');
  });

  test('keeps what a here-document holds', () => {
    const script = "cat <<EOF\n# a marker\n\nEOF\ncat <<-'END' >f\n\t# x\n\tEND\n# gone\nls";
    assert.equal(stripComments(script), script.replace('# gone\n', ''));
  });

  test('keeps what a string over several lines holds', () => {
    const script = `printf '%s' '\n# kept\n'\nprintf "it's \\"\n# kept too\n"\n# it's gone\nls # don't mind\n# gone`;
    assert.equal(stripComments(script), script.replace("# it's gone\n", '').replace('\n# gone', ''));
  });

  test('is refused for a script whose end cannot be told', () => {
    assert.throws(() => stripComments("echo 'a\n# b"), SyntaxError);
    assert.throws(() => stripComments('cat <<EOF\n# b'), SyntaxError);
  });

  for (const name of ['lib', ...sharedScripts, ...hostSteps.map((step) => step.name)]) {
    test(`can be told of ${name}.sh`, () => {
      assert.match(stripComments(scriptText(name)), /\w/);
    });
  }
});
