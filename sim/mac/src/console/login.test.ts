import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideLogin, type LoginOutcome, type LoginwindowState } from './console.ts';
import { encodeKcpassword, sealedPassword } from './kcpassword.ts';

const ready: LoginwindowState = {
  started: 'again',
  autoLoginUser: 'm1',
  kcpassword: encodeKcpassword("it's ünusual"),
  user: { name: 'm1', password: "it's ünusual" },
  noGuiSession: false,
};

const table: readonly (readonly [string, Partial<LoginwindowState>, LoginOutcome])[] = [
  ['the right password logs in', {}, 'Aqua'],
  ['the loginwindow of a headless boot ignores auto-login', { started: 'at boot' }, 'login screen'],
  ['nobody is named', { autoLoginUser: undefined }, 'login screen'],
  ['somebody unknown is named', { autoLoginUser: 'root' }, 'login screen'],
  ['no password is kept', { kcpassword: undefined }, 'login screen'],
  ['a wrong password is sealed', { kcpassword: encodeKcpassword('guess') }, 'seal'],
  ['the start of the right one is a wrong one', { kcpassword: encodeKcpassword("it's") }, 'seal'],
  ['an empty password is a wrong one', { kcpassword: encodeKcpassword('') }, 'seal'],
  ['an empty file is a wrong one', { kcpassword: Buffer.alloc(0) }, 'seal'],
  ['what is sealed stays so', { kcpassword: sealedPassword }, 'login screen'],
  ['a Mac that gives no session gives none', { noGuiSession: true }, 'login screen'],
];

for (const [name, given, expected] of table) {
  test(`auto-login: ${name}`, () => assert.equal(decideLogin({ ...ready, ...given }), expected));
}
