import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { passwordIn } from './responses.ts';

test('the password is that of the server, else that of its VNC URL', () => {
  const table: [sudo: string, vnc: string, expected: string | undefined][] = [
    ['s3cret', '', 's3cret'],
    ['s3cret', 'vnc://m1:other@1.2.3.4:5900', 's3cret'],
    [' with space ', '', ' with space '],
    ['', 'vnc://m1:s3cret@1.2.3.4:5900', 's3cret'],
    ['', 'vnc://m1:s3cret@1.2.3.4', 's3cret'],
    ['', 'vnc://m1:s3cret@1.2.3.4:5900/', 's3cret'],
    ['', 'vnc://m1:p%40ss%2Fw%3Ard%25@1.2.3.4:5900', 'p@ss/w:rd%'],
    ['', 'vnc://m1:p@ss/w#rd@1.2.3.4:5900', 'p@ss/w#rd'],
    ['', 'vnc://m1:100%@1.2.3.4:5900', '100%'],
    ['', 'vnc://:s3cret@1.2.3.4:5900', 's3cret'],
    ['<sealed>', 'vnc://m1:s3cret@1.2.3.4:5900', 's3cret'],
    ['<sealed>', '', undefined],
    ['<sealed>', '<sealed>', undefined],
    ['', '<sealed>', undefined],
    ['', 'vnc://m1:<sealed>@1.2.3.4:5900', undefined],
    ['', 'vnc://m1:%3Csealed%3E@1.2.3.4:5900', undefined],
    ['', 'vnc://m1:@1.2.3.4:5900', undefined],
    ['', 'vnc://m1@1.2.3.4:5900', undefined],
    ['', 'vnc://1.2.3.4:5900', undefined],
    ['', 'https://m1:s3cret@1.2.3.4', undefined],
    ['', '', undefined],
    ['  ', '  ', undefined],
  ];
  for (const [sudo, vnc, expected] of table) assert.equal(passwordIn(sudo, vnc), expected, `${sudo} ${vnc}`);
});

test('every password is decoded from a VNC URL', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (password) => {
      const read = passwordIn('', `vnc://m1:${encodeURIComponent(password.toWellFormed())}@10.0.0.1:5900`);
      const none = password.trim() === '' || password.trim() === '<sealed>';
      assert.equal(read, none ? undefined : password.toWellFormed());
    }),
  );
});
