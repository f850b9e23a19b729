import assert from 'node:assert/strict';
import { test } from 'node:test';
import { edited } from './sources.ts';

const edit = { file: 'main.go', from: 'Port: port,', to: 'Host: "$&", Port: port,' };

test('one text is replaced by another, as it is written', () => {
  assert.equal(edited('a Port: port, b', edit), 'a Host: "$&", Port: port, b');
});

test('sources that have it never, or twice, are not built', () => {
  for (const text of ['a', 'Port: port, Port: port,'])
    assert.throws(() => edited(text, edit), /main\.go has "Port: port," [02] times/);
});
