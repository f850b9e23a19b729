import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MalformedPlist, parsePlist } from './plist.ts';

const head = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
`;
const plist = (body: string): string => `${head}<plist version="1.0">\n${body}\n</plist>\n`;

test('everything that a launchd job needs is parsed', () => {
  const read = parsePlist(
    plist(`<dict>
      <!-- who -->
      <key>Label</key> <string>dev.tuist.job</string>
      <key>ProgramArguments</key>
      <array><string>/bin/a</string><string> --url=http://a/?b=1&amp;c=&lt;&#x41;&#66;&gt; </string><string/></array>
      <key>RunAtLoad</key><true/>
      <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
      <key>ThrottleInterval</key><integer>10</integer>
    </dict>`),
  );
  assert.deepEqual(read, {
    Label: 'dev.tuist.job',
    ProgramArguments: ['/bin/a', ' --url=http://a/?b=1&c=<AB> ', ''],
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    ThrottleInterval: 10,
  });
});

test('quotes in a string are part of it (INC-226)', () => {
  assert.equal(parsePlist(plist(`<string>'/var/log/a b.log'</string>`)), `'/var/log/a b.log'`);
});

const malformed: Readonly<Record<string, string>> = {
  'a bare & (INC-226)': plist('<string>http://a/?b=1&c=2</string>'),
  'an entity that is none': plist('<string>&nbsp;</string>'),
  'an element that is not closed': plist('<dict><key>Label</key><string>a</dict>'),
  'a key without a value': plist('<dict><key>Label</key></dict>'),
  'a value without a key': plist('<dict><string>a</string></dict>'),
  'an integer that is none': plist('<integer>ten</integer>'),
  'two values': plist('<true/><true/>'),
  'text between elements': plist('<array>a<true/></array>'),
  'an unknown element': plist('<null/>'),
  'half a file': plist('<dict><key>Label</key><string>a</string></dict>').slice(0, 200),
  'an empty file': '',
  'something behind the end': `${plist('<true/>')}<plist/>`,
  'a bare <': plist('<string>a < b</string>'),
};

for (const [name, text] of Object.entries(malformed)) {
  test(`a plist is malformed by ${name}`, () => assert.throws(() => parsePlist(text), MalformedPlist));
}
