import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usablePassword, validAccountName } from './preparation.ts';

const passwords: readonly (readonly [string, string | undefined, string | undefined])[] = [
  ['a password is tried as it is', ` it's "$HOME" \\ é `, ` it's "$HOME" \\ é `],
  ['without one nothing is tried', undefined, undefined],
  ['an empty one is none', '', undefined],
  ['the literal <sealed> is none', '<sealed>', undefined],
];
for (const [name, userPassword, expected] of passwords) {
  test(name, () => assert.equal(usablePassword(userPassword === undefined ? {} : { userPassword }), expected));
}

for (const [name, separator] of [
  ['line feed', '\n'],
  ['carriage return', '\r'],
  ['NUL', '\0'],
] as const) {
  test(`a password with a ${name} is an error that does not show it`, () => {
    assert.throws(
      () => usablePassword({ userPassword: `planted${separator}secret` }),
      (error: unknown) => error instanceof TypeError && !/planted|secret/.test(error.message),
    );
  });
}

test('the short name of an account is accepted', () => {
  for (const user of ['m1', 'jo.doe', '_ci', 'a-b']) assert.equal(validAccountName(user), user);
});

test('a name with special characters of sudoers, shells or paths is rejected', () => {
  for (const user of ['', 'a b', '%admin', '../m1', 'm1\nALL', 'ALL=', '-m1', '.m1']) {
    assert.throws(() => validAccountName(user), /no short name/);
  }
});
