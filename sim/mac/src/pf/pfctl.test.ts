import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { ToolResult } from '../machine.ts';
import { toolCall } from '../testing/minimal-machine.ts';
import { createPfMachine, type PfMachine } from './testing/pf-machine.ts';

const altq = 'No ALTQ support in kernel\nALTQ related functions disabled\n';
const tokenOf = ({ stderr = '' }: ToolResult): string => /^Token : (\d+)$/m.exec(stderr)?.[1] ?? assert.fail(stderr);

describe('pfctl', () => {
  let mac: PfMachine;
  beforeEach(async () => {
    mac = await createPfMachine();
  });
  afterEach(() => mac.machine.remove());

  test('answers as on a Mac', () => {
    const table: readonly [args: string, code: number, stdout: string, stderr: RegExp | ''][] = [
      ['-s info', 0, 'Status: Disabled for 0 days 00:00:01           Debug: Urgent\n', ''],
      ['-s rules', 0, 'scrub-anchor "com.apple/*" all fragment reassemble\nanchor "com.apple/*" all\n', ''],
      ['-sr', 0, 'scrub-anchor "com.apple/*" all fragment reassemble\nanchor "com.apple/*" all\n', ''],
      ['-v -s nat', 0, 'nat-anchor "com.apple/*" all\nrdr-anchor "com.apple/*" all\n', ''],
      ['-sA', 0, '  com.apple\n', ''],
      ['-s References', 0, 'No TOKENS.\n', ''],
      ['-a com.apple -sr', 0, 'anchor "200.AirDrop/*" all\nanchor "250.ApplicationFirewall/*" all\n', ''],
      ['-a nobody -s rules', 0, '', /DIOCGETRULES: Invalid argument/],
      ['-t nobody -T show', 1, '', /Table does not exist/],
      ['-d', 1, '', /pfctl: pf not enabled/],
      ['-X 1', 1, '', /pfctl: pf not enabled/],
      ['-f /etc/missing', 1, '', /pfctl: \/etc\/missing: No such file or directory/],
    ];
    for (const [args, code, stdout, stderr] of table) {
      const answer = mac.pfctl(...args.split(' '));
      assert.equal(answer.code, code, args);
      assert.equal(answer.stdout ?? '', stdout, args);
      assert.ok(answer.stderr?.includes(altq), args);
      if (stderr === '') assert.equal(answer.stderr, altq, args);
      else assert.match(answer.stderr ?? '', stderr, args);
    }
  });

  test('an unknown option is a usage error', () => {
    for (const args of [['-Q'], ['-s'], ['-s', 'everything'], ['-T', 'eat', '-t', 'x']])
      assert.match(mac.pfctl(...args).stderr ?? '', /usage: pfctl/);
  });

  test('needs root for all but -n', () => {
    const asUser = (...args: readonly string[]) => mac.pf.tools['pfctl']?.(toolCall('pfctl', args, { asRoot: false }));
    assert.deepEqual(asUser('-s', 'rules'), { code: 1, stderr: 'pfctl: /dev/pf: Permission denied\n' });
    assert.deepEqual(asUser('-E'), { code: 1, stderr: 'pfctl: /dev/pf: Permission denied\n' });
    mac.machine.write('/etc/pf.anchors/t', 'table <t> { 10.0.0.1 }\npass from <t> to any\n');
    mac.machine.write('/tmp/x', 'load anchor "t" from "/etc/pf.anchors/t"\n');
    assert.equal((asUser('-nf', '/tmp/x') as ToolResult).code, 0);
    assert.equal(mac.pfctl('-f', '/tmp/x').code, 0, 'and then it has no side effect');
  });

  test('-E counts references, and releasing the last token disables pf', () => {
    const first = tokenOf(mac.pfctl('-E'));
    const second = tokenOf(mac.pfctl('-E'));
    assert.notEqual(first, second);
    assert.match(mac.pfctl('-e').stderr ?? '', /pfctl: pf already enabled/);
    assert.equal(mac.pfctl('-e').code, 1);
    assert.equal(mac.pfctl('-s', 'References').stdout?.split('\n').length, 5);
    assert.match(mac.pfctl('-X', first).stderr ?? '', /1 more pf enable reference\(s\) remaining, pf still enabled/);
    assert.equal(mac.pfctl('-X', first).code, 1);
    assert.equal(mac.pf.enabled, true);
    assert.match(mac.pfctl('-X', second).stderr ?? '', /pf disabled/);
    assert.equal(mac.pf.enabled, false);
  });

  test('every -f warns about the rules of the system, also for an anchor', () => {
    assert.match(
      mac.pipe('pass all', '-a', 'x', '-f', '-').stderr ?? '',
      /^pfctl: Use of -f option, could result in flushing/,
    );
  });

  test('a load that is rejected names file and line, changes nothing, and does not enable', () => {
    mac.machine.write('/etc/pf.anchors/x', 'pass all\n');
    mac.pfctl('-a', 'x', '-f', '/etc/pf.anchors/x');
    mac.machine.write('/etc/pf.anchors/x', '# fine\nblcok all\n');
    const answer = mac.pfctl('-a', 'x', '-f', '/etc/pf.anchors/x', '-E');
    assert.equal(answer.code, 1);
    assert.match(
      answer.stderr ?? '',
      /^\/etc\/pf\.anchors\/x:2: syntax error\npfctl: Syntax error in config file: pf rules not loaded$/m,
    );
    assert.equal(mac.pfctl('-a', 'x', '-sr').stdout, 'pass all flags S/SA keep state\n');
    assert.equal(mac.pf.enabled, false);
  });

  test('paths may start with the root of the simulated disk', () => {
    mac.machine.write('/etc/pf.anchors/x', 'pass all\n');
    assert.equal(mac.pfctl('-a', 'com.apple/x', '-f', mac.machine.path('/etc/pf.anchors/x')).code, 0);
    assert.deepEqual(mac.machine.journalOf('pf.load'), ['com.apple/x']);
  });

  test('a second load of the same anchor replaces it, tables included', () => {
    const load = (address: string): number =>
      mac.pipe(`table <t> persist { ${address} }\nblock from <t> to any\n`, '-a', 'com.apple/x', '-f', '-').code;
    assert.equal(load('10.0.0.1'), 0);
    assert.equal(load('10.0.0.2'), 0);
    assert.equal(mac.pfctl('-a', 'com.apple/x', '-t', 't', '-T', 'show').stdout, '   10.0.0.2\n');
  });

  test('addresses of tables can be added, deleted and shown', () => {
    const table = (...args: readonly string[]): string => {
      const { stdout = '', stderr = '' } = mac.pfctl('-a', 'x', '-t', 't', '-T', ...args);
      return `${stdout}${stderr.replace(altq, '')}`;
    };
    assert.equal(table('add', '10.0.0.1', '10.1.0.0/16'), '1 table created.\n2/2 addresses added.\n');
    assert.equal(table('add', '10.0.0.1'), '0/1 addresses added.\n');
    assert.equal(table('delete', '10.0.0.1'), '1/1 addresses deleted.\n');
    assert.equal(table('show'), '   10.1.0.0/16\n');
    assert.equal(table('kill'), '1 table deleted.\n');
  });

  test('-n loads nothing, and -v prints the parsed rules', () => {
    const answer = mac.pipe('pass in all', '-a', 'x', '-vnf', '-');
    assert.equal(answer.stdout, 'pass in all flags S/SA keep state\n');
    assert.equal(mac.pfctl('-a', 'x', '-sr').stdout, '');
    assert.deepEqual(mac.machine.journalOf('pf.load'), []);
  });

  test('a load anchor whose file is missing rejects the load', () => {
    mac.machine.write('/tmp/x', 'pass all\nload anchor "y" from "/etc/pf.anchors/gone"\n');
    const answer = mac.pfctl('-f', '/tmp/x');
    assert.equal(answer.code, 1);
    assert.match(answer.stderr ?? '', /\/etc\/pf\.anchors\/gone: No such file or directory/);
  });

  test('a file that loads itself is rejected', () => {
    mac.machine.write('/tmp/x', 'load anchor "y" from "/tmp/x"\n');
    assert.equal(mac.pfctl('-f', '/tmp/x').code, 1);
  });

  test('with the fault, every table is busy', () => {
    mac.machine.faults.pfBusy = true;
    const rules = 'table <t> { 10.0.0.1 }\nblock from <t> to any\n';
    assert.match(
      mac.pipe(rules, '-a', 'x', '-f', '-').stderr ?? '',
      /^stdin:1: cannot define table t: Resource busy$/m,
    );
    assert.equal(mac.pipe('block from 10.0.0.1 to any', '-a', 'x', '-f', '-').code, 0);
    mac.machine.faults.pfBusy = false;
    assert.equal(mac.pipe(rules, '-a', 'x', '-f', '-').code, 0);
  });
});
