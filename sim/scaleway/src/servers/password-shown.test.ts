import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PasswordOccasion, passwordShown } from './password-shown.ts';

const occasion: PasswordOccasion = {
  user: 'm1',
  password: 'a/b@c:d#e%f+g',
  address: '198.18.0.1:59010',
  age: 0,
  to: 'a read',
  told: 'told once',
};
const inVNC = 'vnc://m1:a%2Fb%40c%3Ad%23e%25f%2Bg@198.18.0.1:59010';
const young = 10 * 60_000 - 1;

test('a password is told as it is once, later inside an address where it is encoded, and by a write never', () => {
  for (const [what, sudo_password, vnc_url] of [
    [{ age: young }, occasion.password, inVNC],
    [{ age: young + 1 }, '', inVNC],
    [{ to: 'a write' }, '<sealed>', '<sealed>'],
    [{ told: 'in the VNC address' }, '', inVNC],
    [{ told: 'empty' }, '', 'vnc://m1:@198.18.0.1:59010'],
    [{ told: 'sealed' }, '<sealed>', '<sealed>'],
    [{ told: 'empty', to: 'a write' }, '<sealed>', '<sealed>'],
  ] as const) {
    assert.deepEqual(passwordShown({ ...occasion, ...what }), { sudo_password, vnc_url }, JSON.stringify(what));
  }
});
