import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PasswordContext, passwordFields } from './servers.ts';

const occasion: PasswordContext = {
  user: 'm1',
  password: 'a/b@c:d#e%f+g',
  address: '198.18.0.1:59010',
  age: 0,
  to: 'read',
  mode: 'shortly after the order',
};
const inVNC = 'vnc://m1:a%2Fb%40c%3Ad%23e%25f%2Bg@198.18.0.1:59010';
const young = 10 * 60_000 - 1;

test('the plain password is shown shortly after the order, later only encoded in vnc_url, and never after a write', () => {
  for (const [what, sudo_password, vnc_url] of [
    [{ age: young }, occasion.password, inVNC],
    [{ age: young + 1 }, '', inVNC],
    [{ to: 'write' }, '<sealed>', '<sealed>'],
    [{ mode: 'in vnc_url' }, '', inVNC],
    [{ mode: 'empty' }, '', 'vnc://m1:@198.18.0.1:59010'],
    [{ mode: 'sealed' }, '<sealed>', '<sealed>'],
    [{ mode: 'empty', to: 'write' }, '<sealed>', '<sealed>'],
  ] as const) {
    assert.deepEqual(passwordFields({ ...occasion, ...what }), { sudo_password, vnc_url }, JSON.stringify(what));
  }
});
