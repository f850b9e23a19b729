import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isIncludedFile, needsNoPassword, parseSudoers } from './sudoers.ts';

test('a sudoers file grants rights to users and groups', () => {
  const cases: readonly [text: string, command: string, noPassword: boolean | 'syntax error'][] = [
    ['m1 ALL=(ALL) NOPASSWD: ALL\n', '/bin/ls', true],
    ['m1 ALL=(ALL) NOPASSWD:ALL', '/bin/ls', true],
    ['m1 ALL = NOPASSWD: /bin/ls, /bin/cat\n', '/bin/ls', true],
    ['m1 ALL = NOPASSWD: /bin/ls\n', '/bin/cat', false],
    ['m1 ALL=(ALL) ALL\n', '/bin/ls', false],
    ['%admin ALL=(ALL:ALL) NOPASSWD: SETENV: ALL\n', '/bin/ls', true],
    ['m2 ALL=(ALL) NOPASSWD: ALL\n', '/bin/ls', false],
    ['m1 ALL=(ALL) NOPASSWD: ALL\nm1 ALL=(ALL) PASSWD: ALL\n', '/bin/ls', false],
    ['# m1 may do everything\n\nDefaults !lecture\n', '/bin/ls', false],
    ['', '/bin/ls', false],
    ['m1 ALL=(ALL) NOPASSWD: \n', '/bin/ls', 'syntax error'],
    ['m1 NOPASSWD: ALL\n', '/bin/ls', 'syntax error'],
    ['m1 ALL=(ALL) NOPASSWD ALL\n', '/bin/ls', 'syntax error'],
    ['some words\n', '/bin/ls', 'syntax error'],
  ];
  for (const [text, command, expected] of cases) {
    const parsed = parseSudoers(text);
    const found = 'errorInLine' in parsed ? 'syntax error' : needsNoPassword(parsed.grants, 'm1', ['admin'], command);
    assert.equal(found, expected, text);
  }
});

test('a syntax error names its line', () => {
  assert.deepEqual(parseSudoers('# fine\nm1 ALL=(ALL) ALL\nnot fine\n'), { errorInLine: 3 });
});

test('files with a dot in the name, or a tilde at the end, are skipped', () => {
  assert.deepEqual(['m1-nopasswd', 'a.user', 'm1~', '~m1'].filter(isIncludedFile), ['m1-nopasswd', '~m1']);
});
