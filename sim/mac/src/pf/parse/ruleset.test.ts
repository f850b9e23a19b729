import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { printRule } from '../rule.ts';
import { parseRuleset } from './ruleset.ts';
import { PfSyntaxError } from './tokens.ts';

const printed = (source: string): readonly string[] => parseRuleset('f', source).entries.map(printRule);

const errorOf = (source: string): string => {
  try {
    parseRuleset('/etc/pf.conf', source);
  } catch (error) {
    assert.ok(error instanceof PfSyntaxError);
    return `${error.file}:${error.line}: ${error.message}`;
  }
  return 'none';
};

test('rules are printed with expanded lists and explicit defaults', () => {
  const table: readonly [string, ...string[]][] = [
    [
      'block drop out quick from <vm_sources> to <blocked_dst>',
      'block drop out quick from <vm_sources> to <blocked_dst>',
    ],
    [
      'block quick from 192.168.64.0/22 to 169.254.169.254',
      'block drop quick inet from 192.168.64.0/22 to 169.254.169.254',
    ],
    ['block return in all', 'block return in all'],
    [
      'pass in quick on bridge100 inet proto tcp from any to 10.96.0.10 port 53',
      'pass in quick on bridge100 inet proto tcp from any to 10.96.0.10 port = 53 flags S/SA keep state',
    ],
    [
      'pass out proto { tcp, udp } from any to 10.96.0.10 port 53',
      'pass out inet proto tcp from any to 10.96.0.10 port = 53 flags S/SA keep state',
      'pass out inet proto udp from any to 10.96.0.10 port = 53 keep state',
    ],
    [
      'pass in log quick on ! lo0 proto tcp from { 10.0.0.1 fd00::1 } to any port { 22 30000:32767 } no state label "guard"',
      'pass in quick on ! lo0 inet proto tcp from 10.0.0.1 to any port = 22 no state label "guard"',
      'pass in quick on ! lo0 inet proto tcp from 10.0.0.1 to any port 30000:32767 no state label "guard"',
      'pass in quick on ! lo0 inet6 proto tcp from fd00::1 to any port = 22 no state label "guard"',
      'pass in quick on ! lo0 inet6 proto tcp from fd00::1 to any port 30000:32767 no state label "guard"',
    ],
    [
      'nat on vlan0 inet from 192.168.64.0/22 to ! 172.16.0.0/22 -> (vlan0)',
      'nat on vlan0 inet from 192.168.64.0/22 to ! 172.16.0.0/22 -> (vlan0) round-robin',
    ],
    ['no nat on bridge100 from any to any', 'no nat on bridge100 from any to any'],
    [
      'rdr pass on lo0 proto tcp from any to any port 80 -> 127.0.0.1 port 8080',
      'rdr pass on lo0 proto tcp from any to any port = 80 -> 127.0.0.1 port 8080',
    ],
    [
      'scrub on utun4 inet proto tcp from 192.168.64.0/22 to any max-mss 1200',
      'scrub on utun4 inet proto tcp from 192.168.64.0/22 to any max-mss 1200 fragment reassemble',
    ],
    ['scrub-anchor "com.apple/*"', 'scrub-anchor "com.apple/*" all fragment reassemble'],
    ['anchor "com.apple/*"', 'anchor "com.apple/*" all'],
    ['anchor tuist.runners out on en0', 'anchor "tuist.runners" out on en0 all'],
    [
      'vm = "192.168.64.0/22"\nbad = "{ 10.0.0.0/8, 172.16.0.0/12 }"\nblock from $vm to $bad',
      'block drop inet from 192.168.64.0/22 to 10.0.0.0/8',
      'block drop inet from 192.168.64.0/22 to 172.16.0.0/12',
    ],
    ['block from any \\\n to 10.0.0.0/8 # all of it', 'block drop inet from any to 10.0.0.0/8'],
    [
      'block from any to {\n 10.0.0.0/8\n 172.16.0.0/12\n}',
      'block drop inet from any to 10.0.0.0/8',
      'block drop inet from any to 172.16.0.0/12',
    ],
    ['set skip on lo0\nset block-policy drop\n'],
  ];
  for (const [source, ...expected] of table) assert.deepEqual(printed(source), expected, source);
});

test('errors name file and line', () => {
  const order = 'Rules must be in order: options, normalization, queueing, translation, filtering';
  const table: readonly [string, string][] = [
    ['pass all\nblcok all\n', ':2: syntax error'],
    ['pass from any to any port', ':1: syntax error'],
    ['pass all extra', ':1: syntax error'],
    ['block from { } to any', ':1: syntax error'],
    ['table <x> { 10.0.0.0/8', ':1: syntax error'],
    ['anchor "unfinished', ':1: syntax error'],
    ['load anchor "x" "/etc/x"', ':1: syntax error'],
    ['nat on en0 from any to any', ':1: syntax error'],
    ['\npass from $nobody to any', ":2: macro 'nobody' not defined"],
    ['pass from example.com to any', ':1: no IP address found for example.com'],
    ['pass from 10.0.0.0/33 to any', ':1: no IP address found for 10.0.0.0/33'],
    ['pass from any to any port 53', ':1: port only applies to tcp/udp'],
    ['pass proto tcp from any to any port 70000', ':1: illegal port value 70000'],
    ['pass inet from fd00::1 to any', ':1: rule expands to no valid combination'],
    ['pass proto tpc from any to any', ':1: unknown protocol tpc'],
    // A translation anchor after a filter anchor rejects the whole file.
    ['anchor "a"\nnat-anchor "a"', `:2: ${order}`],
    ['nat-anchor "a"\nscrub-anchor "a"', `:2: ${order}`],
    ['pass all\nset skip on lo0', `:2: ${order}`],
    ['anchor "a"\ndummynet-anchor "a"', `:2: ${order}`],
    // Tables, macros and loads are allowed anywhere.
    ['anchor "a"\ntable <t> persist { 10.0.0.1 }\nx = "y"\nload anchor "a" from "/etc/pf.anchors/a"', 'none'],
  ];
  for (const [source, expected] of table)
    assert.equal(
      errorOf(source),
      expected === 'none' ? 'none' : `/etc/pf.conf${expected.replace(/^:(\d+)/, ':$1')}`,
      source,
    );
});

test('a macro that refers to itself is an error and does not crash the parser', () => {
  assert.match(errorOf('a = "$a"\npass from $a to any'), /:2: syntax error/);
});

const word = fc.constantFrom(
  ...`pass block drop quick in out on en0 inet inet6 proto tcp from to any all port 53 { } ( ) < > ! = , -> >< " # \\ $x x table persist
load anchor scrub nat rdr-anchor no set skip 10.0.0.0/8 fd00::/8 1:2 keep state flags label -`.split(/\s/),
  '\n',
  '\t',
  '\0',
);

test('for any input, the parser only throws its own error', () => {
  const source = fc.oneof(
    fc.string(),
    fc.array(word, { maxLength: 30 }).map((words) => words.join(' ')),
  );
  fc.assert(
    fc.property(source, (text) => {
      try {
        for (const entry of parseRuleset('f', text).entries) printRule(entry);
      } catch (error) {
        assert.ok(error instanceof PfSyntaxError, String(error));
      }
    }),
    { numRuns: 600 },
  );
});

test('the output of pfctl can be loaded again, and is then the same', () => {
  const endpoint = fc.constantFrom('any', '10.0.0.0/8', '! 172.16.0.0/12', '<vm>', '(en0)', '{ 10.0.0.1, 10.0.0.2 }');
  const rule = fc
    .record({
      action: fc.constantFrom('pass', 'block drop', 'block return'),
      direction: fc.constantFrom('', 'in', 'out'),
      quick: fc.constantFrom('', 'quick'),
      on: fc.constantFrom('', 'on bridge100', 'on ! lo0'),
      proto: fc.constantFrom('', 'proto udp', 'proto { tcp udp }'),
      from: endpoint,
      to: endpoint,
    })
    .map(({ action, direction, quick, on, proto, from, to }) => {
      const port = proto === '' ? '' : 'port { 53, 100:200, != 7 }';
      return `${action} ${direction} ${quick} ${on} ${proto} from ${from} to ${to} ${port}`;
    });
  fc.assert(
    fc.property(rule, (text) => {
      const once = printed(text);
      assert.deepEqual(printed(once.join('\n')), once);
    }),
    { numRuns: 150 },
  );
});
