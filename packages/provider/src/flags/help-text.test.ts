import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { allFlags, flagGroups } from './flag-table.ts';
import { helpText, removedFlags } from './parse-flags.ts';

describe('--help', () => {
  const text = helpText();
  const lines = text.split('\n');

  test('lists every flag once below its group, with default and variable', () => {
    for (const { name, defaultText, env } of allFlags) {
      const [head = '', ...more] = lines.filter((line) => new RegExp(`^ {2}--${name}(?: |$)`).test(line));
      assert.notEqual(head, '', name);
      assert.deepEqual(more, []);
      if (defaultText !== '') assert.ok(head.includes(`default ${defaultText}`), head);
      if (env !== undefined) assert.ok(head.includes(`environment ${env}`), head);
    }
    for (const { title } of flagGroups) assert.equal(lines.filter((line) => line === `${title}:`).length, 1);
  });

  test('lists no removed flag', () => {
    for (const { name } of removedFlags) assert.ok(!text.includes(`--${name} `), name);
  });

  test('fits a terminal, and explains where credentials come from', () => {
    for (const line of lines.filter((line) => !line.startsWith('  --'))) assert.ok(line.length <= 110, line);
    for (const name of ['SCW_ACCESS_KEY', 'SCW_SECRET_KEY', 'SCW_DEFAULT_PROJECT_ID']) assert.ok(text.includes(name));
  });
});
