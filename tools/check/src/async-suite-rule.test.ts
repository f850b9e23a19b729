import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asyncSuites } from './async-suite-rule.ts';

// In two parts: this file is checked too.
const declare = 'describe';

const cases: [what: string, text: string, lines: number[]][] = [
  ['a suite', `${declare}('a', () => {});`, []],
  ['an async suite', `\n${declare}('a', async () => {});`, [2]],
  ['an async suite with options on lines of their own', `${declare}(\n'a',\n{ skip: !f() },\nasync () => {\n});`, [1]],
  ['an async test in a suite', `${declare}('a', { timeout: 1 }, () => {\n  test('b', async () => {});\n});`, []],
  ['the second of two suites', `${declare}(title, () => {});\n${declare}(title, async () => {});`, [2]],
];

for (const [what, text, lines] of cases)
  test(`${what} is ${lines.length === 0 ? 'accepted' : 'reported'}`, () => assert.deepEqual(asyncSuites(text), lines));
