import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { renderPlist } from './launchd-plist.ts';

const minimal = { Label: 'dev.tuist.example', ProgramArguments: ['/usr/local/bin/example'] };

/** Decodes the text between tags as an XML parser does. */
const unescaped = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&#13;', '\r').replaceAll('&amp;', '&');

const strings = (plist: string): string[] =>
  [...plist.matchAll(/<string>([^<]*)<\/string>/g)].map((match) => unescaped(match[1] ?? ''));

test('a job is rendered with exactly its keys', () => {
  assert.equal(
    renderPlist({
      ...minimal,
      KeepAlive: true,
      ThrottleInterval: 10,
      EnvironmentVariables: { PATH: '/bin', HOME: '/Users/m1' },
    }),
    [
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
      '<plist version="1.0">',
      '<dict>',
      '\t<key>EnvironmentVariables</key>',
      '\t<dict>',
      '\t\t<key>HOME</key>',
      '\t\t<string>/Users/m1</string>',
      '\t\t<key>PATH</key>',
      '\t\t<string>/bin</string>',
      '\t</dict>',
      '\t<key>KeepAlive</key>',
      '\t<true/>',
      '\t<key>Label</key>',
      '\t<string>dev.tuist.example</string>',
      '\t<key>ProgramArguments</key>',
      '\t<array>',
      '\t\t<string>/usr/local/bin/example</string>',
      '\t</array>',
      '\t<key>ThrottleInterval</key>',
      '\t<integer>10</integer>',
      '</dict>',
      '</plist>',
      '',
    ].join('\n'),
  );
});

test('both outputs go to the same log', () => {
  const plist = renderPlist({
    ...minimal,
    StandardOutPath: '/var/log/example.log',
    StandardErrorPath: '/var/log/example.log',
  });
  assert.match(plist, /<key>StandardErrorPath<\/key>\n\t<string>\/var\/log\/example\.log<\/string>/);
  assert.match(plist, /<key>StandardOutPath<\/key>\n\t<string>\/var\/log\/example\.log<\/string>/);
});

test('the order of keys does not matter', () => {
  assert.equal(
    renderPlist({ Label: 'a', ProgramArguments: ['/a'], EnvironmentVariables: { A: '1', B: '2' } }),
    renderPlist({ EnvironmentVariables: { B: '2', A: '1' }, ProgramArguments: ['/a'], Label: 'a' }),
  );
});

test('every text that XML can contain is unchanged (INC-226)', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme-composite' })), (args) => {
      assert.deepEqual(strings(renderPlist({ Label: 'a', ProgramArguments: args })), ['a', ...args]);
    }),
  );
  const nasty = ['a&b', '<key>', "it's", '"quoted"', 'two\nlines', 'cr\r', '&amp;', ']]>'];
  assert.deepEqual(strings(renderPlist({ Label: 'a', ProgramArguments: nasty })), ['a', ...nasty]);
});

for (const text of ['\0', 'a\u001bb', '\ud800', '\uffff']) {
  test(`${JSON.stringify(text)}, which XML cannot contain, is rejected`, () => {
    assert.throws(() => renderPlist({ ...minimal, ProgramArguments: [text] }), TypeError);
  });
}

test('a fraction is rejected', () => {
  assert.throws(() => renderPlist({ ...minimal, StartInterval: 1.5 }), TypeError);
});
