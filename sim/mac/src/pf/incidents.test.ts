import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { fromVirtualMachine } from './evaluate.ts';
import { createPfMachine, type PfMachine, stockPfConf } from './testing/pf-machine.ts';

/** The anchor file from the incidents. */
const anchorFile = (keyword = ''): string => `table <vm_sources> ${keyword} { 192.168.64.0/22 }
table <blocked_dst> ${keyword} { 10.0.0.0/8, 172.16.0.0/12, 169.254.0.0/16 }
block drop quick from <vm_sources> to <blocked_dst>
`;
const block = 'anchor "tuist.runners"\nload anchor "tuist.runners" from "/etc/pf.anchors/tuist.runners"\n';
const busy =
  /cannot define table vm_sources: Resource busy\npfctl: Syntax error in config file: pf rules not loaded\n$/;

describe('pf fails as it did on real hosts', () => {
  let mac: PfMachine;
  beforeEach(async () => {
    mac = await createPfMachine();
  });
  afterEach(() => mac.machine.remove());

  const metadata = fromVirtualMachine('169.254.169.254');
  const cluster = fromVirtualMachine('10.1.2.3');
  const internet = fromVirtualMachine('140.82.121.4');

  test('INC-246: a dry run (-n) fails if the persist tables of the file are already loaded', () => {
    mac.machine.write('/etc/pf.anchors/tuist.runners', anchorFile('persist'));
    mac.machine.write('/etc/pf.conf', stockPfConf + block);
    assert.equal(mac.pfctl('-f', '/etc/pf.conf').code, 0);
    const again = mac.pfctl('-nf', '/etc/pf.conf');
    assert.equal(again.code, 1);
    assert.match(again.stderr ?? '', busy);
  });

  test('INC-246: -F all leaves persist tables, and only -T kill removes them once no rule names them', () => {
    mac.pipe(anchorFile('persist'), '-a', 'tuist.runners', '-f', '-');
    assert.match(mac.pfctl('-a', 'tuist.runners', '-t', 'vm_sources', '-T', 'kill').stderr ?? '', /0 tables deleted/);
    mac.pfctl('-a', 'tuist.runners', '-F', 'all');
    assert.equal(mac.pfctl('-a', 'tuist.runners', '-sT').stdout, 'blocked_dst\nvm_sources\n');
    assert.match(mac.pfctl('-a', 'tuist.runners', '-t', 'vm_sources', '-T', 'kill').stderr ?? '', /1 table deleted/);
    assert.equal(mac.pfctl('-a', 'tuist.runners', '-sT').stdout, 'blocked_dst\n');
  });

  test('INC-246: a table without persist is removed with the rules that name it', () => {
    mac.pipe(anchorFile(), '-a', 'tuist.runners', '-f', '-');
    assert.equal(mac.pfctl('-a', 'tuist.runners', '-sT').stdout, 'blocked_dst\nvm_sources\n');
    mac.pfctl('-a', 'tuist.runners', '-F', 'rules');
    assert.equal(mac.pfctl('-a', 'tuist.runners', '-sT').stdout, '');
  });

  test('INC-248: the block twice in pf.conf rejects the whole load, and the old rules stay', () => {
    mac.machine.write('/etc/pf.anchors/tuist.runners', anchorFile());
    mac.machine.write('/etc/pf.conf', stockPfConf + block + block);
    const before = mac.pfctl('-sr').stdout;
    const load = mac.pfctl('-f', '/etc/pf.conf');
    assert.equal(load.code, 1);
    assert.match(load.stderr ?? '', busy);
    assert.match(load.stderr ?? '', /^\/etc\/pf\.anchors\/tuist\.runners:1: cannot define/m);
    assert.equal(mac.pfctl('-sr').stdout, before);
    assert.deepEqual(mac.machine.journalOf('pf.load'), []);
    assert.deepEqual(mac.machine.journalOf('pf.rejected'), ['main']);
  });

  test('INC-249: -n defines the tables of a load anchor, so that the load after it fails; a load of the anchor alone puts it right', () => {
    mac.machine.write('/etc/pf.anchors/tuist.runners', anchorFile());
    mac.machine.write('/etc/pf.conf', stockPfConf + block);
    assert.equal(mac.pfctl('-n', '-f', '/etc/pf.conf').code, 0);
    assert.match(mac.pfctl('-f', '/etc/pf.conf').stderr ?? '', busy);
    assert.match(mac.pfctl('-f', '/etc/pf.conf').stderr ?? '', busy);
    assert.equal(mac.pfctl('-a', 'tuist.runners', '-f', '/etc/pf.anchors/tuist.runners').code, 0);
    assert.equal(mac.pfctl('-f', '/etc/pf.conf').code, 0);
  });

  test('INC-249: a full load removes the anchors of InternetSharing, and virtual machines lose the internet', () => {
    mac.pf.startVmnet();
    assert.equal(mac.pf.sourceAfterNat(internet), '203.0.113.7');
    mac.pfctl('-f', '/etc/pf.conf');
    assert.doesNotMatch(mac.pfctl('-sn').stdout ?? '', /internet-sharing/);
    assert.equal(mac.pf.sourceAfterNat(internet), '192.168.64.2');
  });

  test('INC-252: an anchor that another process flushes is empty, whatever a snapshot on disk says', () => {
    mac.pipe('nat on en0 from 192.168.64.0/22 to any -> (en0)', '-a', 'com.apple/tuist.vmnat', '-f', '-');
    assert.match(mac.pfctl('-a', 'com.apple/tuist.vmnat', '-s', 'nat').stdout ?? '', /^nat on en0/);
    mac.pfctl('-a', 'com.apple/tuist.vmnat', '-F', 'nat');
    const { stdout, stderr, code } = mac.pfctl('-a', 'com.apple/tuist.vmnat', '-s', 'nat');
    assert.equal(stdout, '');
    assert.match(stderr ?? '', /DIOCGETRULES: Invalid argument/);
    assert.equal(code, 0);
  });

  test('INC-252: a NAT rule for an interface without an address is accepted, and translates nothing yet', () => {
    mac.pfctl('-E');
    assert.equal(
      mac.pipe('nat on vlan0 from 192.168.64.0/22 to any -> (vlan0)', '-a', 'com.apple/x', '-f', '-').code,
      0,
    );
    assert.equal(mac.pf.sourceAfterNat(fromVirtualMachine('172.16.0.9', { out: 'vlan0' })), '192.168.64.2');
  });

  test('INC-254: rules of an anchor are not evaluated while the main ruleset does not call the anchor', () => {
    mac.pfctl('-E');
    mac.machine.write('/tmp/no-nat-hook', 'anchor "com.apple/*"\n');
    mac.pfctl('-f', '/tmp/no-nat-hook');
    mac.pipe('nat on en0 from 192.168.64.0/22 to any -> (en0)', '-a', 'com.apple/tuist.vmnat', '-f', '-');
    assert.equal(mac.pf.sourceAfterNat(internet), '192.168.64.2');
    mac.pfctl('-f', '/etc/pf.conf');
    assert.equal(mac.pf.sourceAfterNat(internet), '203.0.113.7');
  });

  test('INC-254: a pf.conf that is invalid at boot leaves the main ruleset without anchors', async () => {
    mac.machine.write('/etc/pf.anchors/tuist.runners', anchorFile());
    mac.machine.write('/etc/pf.conf', stockPfConf + block + block);
    await mac.reboot();
    assert.equal(mac.pfctl('-sr').stdout, '');
    assert.deepEqual(mac.machine.journalOf('pf.boot'), ['loaded', 'rejected']);
  });

  test('INC-255: an anchor that is only appended to pf.conf is inert until the next boot', async () => {
    mac.pfctl('-E');
    mac.machine.write('/etc/pf.anchors/tuist.runners', anchorFile());
    mac.machine.write('/etc/pf.conf', stockPfConf + block);
    mac.pfctl('-a', 'tuist.runners', '-f', '/etc/pf.anchors/tuist.runners');
    assert.equal(mac.pf.evaluate(metadata), 'pass');
    await mac.reboot();
    mac.pfctl('-E');
    assert.equal(mac.pf.evaluate(metadata), 'block');
  });

  test('rules below com.apple apply at once: private networks are blocked, and the internet is open', () => {
    mac.pf.startVmnet();
    mac.pipe(anchorFile(), '-a', 'com.apple/tuist.runners', '-f', '-');
    assert.equal(mac.pf.evaluate(metadata), 'block');
    assert.equal(mac.pf.evaluate(cluster), 'block');
    assert.equal(mac.pf.evaluate(internet), 'pass');
    assert.equal(mac.pf.sourceAfterNat(internet), '203.0.113.7');
  });

  test('rules are evaluated only if vmnet keeps the anchors of others', () => {
    const verdicts = (anchorRules: 'kept' | 'only com.apple kept' | 'none kept'): readonly string[] => {
      mac.pfctl('-f', '/etc/pf.conf');
      mac.pf.startVmnet({ anchorRules });
      return [metadata, fromVirtualMachine('10.9.9.9', { port: 22 })].map((packet) => mac.pf.evaluate(packet));
    };
    mac.machine.write('/etc/pf.anchors/own', 'block drop quick proto tcp from any to any port 22\n');
    mac.machine.write('/etc/pf.conf', `${stockPfConf}anchor "own"\nload anchor "own" from "/etc/pf.anchors/own"\n`);
    mac.pipe('block drop quick from any to 169.254.0.0/16', '-a', 'com.apple/tuist.runners', '-f', '-');
    assert.deepEqual(verdicts('kept'), ['block', 'block']);
    assert.deepEqual(verdicts('only com.apple kept'), ['block', 'pass']);
    assert.deepEqual(verdicts('none kept'), ['pass', 'pass']);
  });

  test('a packet of a VM is inbound on the bridge first; outbound it already has the address of the host', () => {
    mac.pf.startVmnet();
    const only = (rule: string): string => {
      mac.pipe(rule, '-a', 'com.apple/x', '-f', '-');
      return mac.pf.evaluate(cluster);
    };
    assert.equal(only('block drop in quick on bridge100 from 192.168.64.0/22 to 10.0.0.0/8'), 'block');
    assert.equal(only('block drop out quick from 192.168.64.0/22 to 10.0.0.0/8'), 'pass');
    assert.equal(only('block drop out quick from any to 10.0.0.0/8'), 'block');
  });

  test('IPv6 of a guest passes rules that know only IPv4', () => {
    mac.pf.startVmnet();
    mac.pipe(anchorFile(), '-a', 'com.apple/tuist.runners', '-f', '-');
    const packet = fromVirtualMachine('fd00:10::1', { source: 'fd12::2' });
    assert.equal(mac.pf.evaluate(packet), 'pass');
    mac.pipe('block drop quick inet6 from any to fc00::/7', '-a', 'com.apple/six', '-f', '-');
    assert.equal(mac.pf.evaluate(packet), 'block');
  });

  test('the first quick match counts, and without quick the last', () => {
    mac.pfctl('-E');
    const verdict = (rules: string): string => {
      mac.pipe(rules, '-a', 'com.apple/x', '-f', '-');
      return mac.pf.evaluate(cluster);
    };
    assert.equal(verdict('pass quick from any to 10.1.2.3\nblock quick from any to 10.0.0.0/8'), 'pass');
    assert.equal(verdict('block quick from any to 10.0.0.0/8\npass quick from any to 10.1.2.3'), 'block');
    assert.equal(verdict('block from any to 10.0.0.0/8\npass from any to 10.1.2.3'), 'pass');
    assert.equal(verdict('pass from any to 10.1.2.3\nblock from any to 10.0.0.0/8'), 'block');
  });

  test('anchors below com.apple are evaluated by name, and a quick rule of an earlier one decides', () => {
    mac.pfctl('-E');
    mac.pipe('block quick from any to 10.0.0.0/8', '-a', 'com.apple/b', '-f', '-');
    assert.equal(mac.pf.evaluate(cluster), 'block');
    mac.pipe('pass quick from any to 10.1.2.3', '-a', 'com.apple/a', '-f', '-');
    assert.equal(mac.pf.evaluate(cluster), 'pass');
    assert.equal(mac.pf.evaluate(fromVirtualMachine('10.1.2.4')), 'block');
  });

  test('the rules of com.apple itself are not below it', () => {
    mac.pfctl('-E');
    mac.pipe('block quick all', '-a', 'com.apple', '-f', '-');
    assert.equal(mac.pf.evaluate(internet), 'pass');
  });

  test('a skipped interface is not filtered, and anchors that name each other do not loop', () => {
    mac.machine.write('/tmp/x', 'set skip on bridge100\nanchor "round"\nblock in quick all\n');
    mac.pfctl('-f', '/tmp/x', '-E');
    mac.pipe('anchor "/round"\n', '-a', 'round', '-f', '-');
    assert.equal(mac.pf.evaluate(internet), 'pass');
    assert.equal(mac.pf.evaluate({ ...internet, hops: [{ direction: 'in', on: 'en0' }] }), 'block');
  });

  test('pf that is not enabled blocks nothing, and a reboot disables it', async () => {
    mac.pipe('block quick all', '-a', 'com.apple/x', '-f', '-');
    assert.equal(mac.pf.evaluate(internet), 'pass');
    mac.pfctl('-E');
    assert.equal(mac.pf.evaluate(internet), 'block');
    await mac.reboot();
    assert.equal(mac.pf.enabled, false);
    assert.match(mac.pfctl('-si').stdout ?? '', /^Status: Disabled/);
    assert.equal(mac.pfctl('-a', 'com.apple/x', '-sr').stdout, '');
  });
});
