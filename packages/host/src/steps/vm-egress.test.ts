import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fromVirtualMachine, type Mac, type Packet } from '@tartan/sim-mac';
import type { HostSpec } from '../host-spec.ts';
import { cutEverywhere } from '../testing/crash-injection.ts';
import { exampleSpec } from '../testing/example-spec.ts';
import { footprint } from '../testing/footprint.ts';
import { type FreshMacs, freshMacs } from '../testing/fresh-macs.ts';
import { runStep } from '../testing/run-step.ts';
import { egressRules, vmEgress } from './guest-network.ts';

const pfConf = '/etc/pf.conf';
const anchorFile = '/etc/pf.anchors/tuist.runners';
const label = 'dev.tuist.pfctl-runners';
const plist = `/Library/LaunchDaemons/${label}.plist`;

const anchorLine = 'anchor "tuist.runners"\n';
const loadLine = 'load anchor "tuist.runners" from "/etc/pf.anchors/tuist.runners"\n';
const block = `# BEGIN tuist.runners\n${anchorLine}${loadLine}# END tuist.runners\n`;
const oldComment = '# Tuist runner VM egress filter — see /etc/pf.anchors/tuist.runners\n';
const oldBlock = `# BEGIN tuist.runners\n${oldComment}${anchorLine}${loadLine}# END tuist.runners\n`;
const stanza = oldComment + anchorLine + loadLine;

/** Those of the original system: persistent tables, and blocks only for outgoing packets. */
const oldRules = `table <vm_sources> persist { 192.168.64.0/22 }
table <blocked_dst> persist { 10.0.0.0/8, 172.16.0.0/12, 169.254.0.0/16 }
block drop out quick from <vm_sources> to <blocked_dst>
`;

describe('the egress filter of VMs', { concurrency: 2 }, () => {
  let macs: FreshMacs;
  let spec: HostSpec;
  before(() => {
    macs = freshMacs();
    spec = exampleSpec(macs.folder, {
      vmEgress: {
        allow: [
          { cidr: '10.96.0.10/32', protocol: 'udp', ports: '53' },
          { cidr: '172.16.0.0/22', protocol: 'tcp', ports: '30000:32767' },
        ],
      },
    });
  });
  after(() => macs.stopAll());

  const run = (mac: Mac, of = spec) => runStep(mac, vmEgress, of);
  const check = (mac: Mac) => runStep(mac, vmEgress, spec, { verb: 'check' });
  const text = (mac: Mac, file: string): string => readFileSync(mac.path(file), 'utf8');
  const journal = (mac: Mac, kind: string): string[] =>
    mac.journal.entries.filter(({ what }) => what === kind).map(({ detail }) => detail);
  const registrations = (mac: Mac): number =>
    journal(mac, 'launchd.bootstrap').filter((detail) => detail.startsWith(label)).length;
  const references = async (mac: Mac): Promise<number> =>
    (await mac.run('pfctl -s References', { asRoot: true })).stdout.split('\n').filter((line) => line.includes('pfctl'))
      .length;
  const converged = async (of = spec): Promise<Mac> => {
    const mac = await macs.start();
    const answer = await run(mac, of);
    assert.deepEqual([answer.result, answer.stderr], ['applied', '']);
    return mac;
  };
  /** The boot job runs at the same time. */
  const settled = async (mac: Mac): Promise<void> => {
    for (let looks = 0; looks < 100; looks += 1) if ((await check(mac)).result === 'unchanged') return;
    assert.fail((await check(mac)).stdout);
  };

  const verdict = (mac: Mac, packet: Packet): string => mac.packetFilter.evaluate(packet);
  const expectFiltered = (mac: Mac): void => {
    for (const destination of [
      '10.1.2.3',
      '172.16.0.9',
      '172.31.0.1',
      '169.254.169.254',
      '100.100.1.1',
      '192.168.1.1',
    ]) {
      assert.equal(verdict(mac, fromVirtualMachine(destination)), 'block', destination);
    }
    for (const destination of ['1.1.1.1', '192.168.64.1', '172.32.0.1', '100.128.0.1']) {
      assert.equal(verdict(mac, fromVirtualMachine(destination)), 'pass', destination);
    }
  };

  test('on a fresh Mac blocks private networks for VMs at once', async () => {
    const mac = await converged();
    assert.ok(mac.packetFilter.enabled);
    expectFiltered(mac);
  });

  test('opens allowed networks for their protocol and ports', async () => {
    const mac = await converged();
    const to = (destination: string, protocol: 'tcp' | 'udp', port: number) =>
      verdict(mac, fromVirtualMachine(destination, { protocol, port, out: 'utun4' }));
    assert.equal(to('10.96.0.10', 'udp', 53), 'pass');
    assert.equal(to('172.16.3.255', 'tcp', 30_000), 'pass');
    assert.equal(to('10.96.0.10', 'tcp', 53), 'block');
    assert.equal(to('10.96.0.10', 'udp', 54), 'block');
    assert.equal(to('10.96.0.11', 'udp', 53), 'block');
    assert.equal(to('172.16.4.0', 'tcp', 30_000), 'block');
  });

  test('always blocks the metadata service', async () => {
    const mac = await converged({
      ...spec,
      vmEgress: { allow: [{ cidr: '0.0.0.0/0', protocol: 'tcp', ports: '1:65535' }] },
    });
    assert.equal(verdict(mac, fromVirtualMachine('169.254.169.254', { port: 80 })), 'block');
    assert.equal(verdict(mac, fromVirtualMachine('10.1.2.3')), 'pass');
  });

  test('also applies after NAT has changed the source, and to spoofed sources', async () => {
    const mac = await converged();
    mac.packetFilter.startVmnet();
    expectFiltered(mac);
    assert.equal(verdict(mac, fromVirtualMachine('10.1.2.3', { source: '8.8.8.8' })), 'block');
  });

  test('blocks IPv6 for VMs, and not for the host', async () => {
    const mac = await converged();
    assert.equal(verdict(mac, fromVirtualMachine('2606:4700::1111', { source: 'fd00:1::2' })), 'block');
    const own = (source: string, destination: string, on: string): Packet => ({
      source,
      destination,
      protocol: 'tcp',
      port: 443,
      hops: [{ direction: 'out', on }],
    });
    assert.equal(verdict(mac, own('fd7a:115c:a1e0::1', 'fd7a:115c:a1e0::2', 'utun4')), 'pass');
    assert.equal(verdict(mac, own('203.0.113.7', '10.1.2.3', 'en0')), 'pass');
  });

  test('a second run changes nothing, loads nothing and registers nothing', async () => {
    const mac = await converged();
    await settled(mac);
    const before = footprint(mac);
    assert.equal((await run(mac)).result, 'unchanged');
    assert.deepEqual(footprint(mac), before);
    assert.equal(registrations(mac), 1);
  });

  test('never loads the whole ruleset on a live host', async () => {
    const mac = await converged();
    mac.packetFilter.startVmnet();
    await run(mac, { ...spec, vmEgress: { allow: [] } });
    const { stdout } = await mac.run('pfctl -s nat', { asRoot: true });
    assert.match(stdout, /com\.apple\.internet-sharing/);
    assert.ok(!journal(mac, 'pf.load').includes('main'));
  });

  test('applies after a reboot, where Apple loads pf.conf and our job does the rest', async () => {
    const mac = await converged();
    await mac.reboot();
    await settled(mac);
    expectFiltered(mac);
    assert.deepEqual(journal(mac, 'pf.boot').at(-1), 'loaded');
    assert.match((await mac.run('pfctl -s rules', { asRoot: true })).stdout, /^anchor "tuist\.runners"/m);
  });

  test('loads and writes changed rules, and keeps the boot job', async () => {
    const mac = await converged();
    const other = { ...spec, vmEgress: { allow: [] } };
    assert.equal((await run(mac, other)).result, 'applied');
    assert.equal(verdict(mac, fromVirtualMachine('10.96.0.10', { protocol: 'udp', port: 53 })), 'block');
    assert.equal(text(mac, anchorFile), egressRules({ allow: [] }).text);
    assert.equal(registrations(mac), 1);
  });

  test('restores flushed rules, with no other change', async () => {
    const mac = await converged();
    await settled(mac);
    const files = footprint(mac).files.filter((line) => !line.includes('/tartan/'));
    await mac.run('pfctl -a com.apple/tuist.runners -F rules', { asRoot: true });
    assert.equal(verdict(mac, fromVirtualMachine('10.1.2.3')), 'pass');
    const { result, differences } = await run(mac);
    assert.deepEqual(
      [result, differences],
      ['applied', ['pf has not loaded the wanted rules into com.apple/tuist.runners']],
    );
    expectFiltered(mac);
    assert.deepEqual(
      footprint(mac).files.filter((line) => !line.includes('/tartan/')),
      files,
    );
    assert.equal(registrations(mac), 1);
  });

  test('enables pf once, and not where it is already enabled', async () => {
    const mac = await converged();
    await settled(mac);
    assert.equal(await references(mac), 1);
    await mac.run('pfctl -a com.apple/tuist.runners -F rules', { asRoot: true });
    await run(mac);
    assert.equal(await references(mac), 1);
    await mac.run('pfctl -d', { asRoot: true });
    assert.deepEqual((await run(mac)).differences, ['pf is not enabled']);
    assert.ok(mac.packetFilter.enabled);
  });

  test('still applies after a starting VM drops the anchors of others', async () => {
    const mac = await converged();
    await mac.reboot();
    await settled(mac);
    mac.packetFilter.startVmnet({ anchorRules: 'only com.apple kept' });
    assert.equal((await check(mac)).result, 'unchanged');
    expectFiltered(mac);
  });

  test('fails with advice when the live ruleset has no anchor of ours; a reboot repairs it', async () => {
    const mac = await macs.start();
    mac.packetFilter.startVmnet({ anchorRules: 'none kept' });
    const answer = await run(mac);
    assert.equal(answer.code, 1);
    assert.match(answer.stderr, /does not look at them.*restart the Mac while it is idle/s);
    assert.equal(existsSync(mac.path('/var/db/tartan/steps/vm-egress')), false);
    await mac.reboot();
    await settled(mac);
    expectFiltered(mac);
  });

  test('writes nothing while pf is busy, and the previous rules stay in force', async () => {
    const mac = await converged();
    await settled(mac);
    mac.faults.pfBusy = true;
    const answer = await run(mac, { ...spec, vmEgress: { allow: [] } });
    assert.equal(answer.code, 1);
    assert.match(answer.stderr, /pf refuses the rules.*Resource busy/s);
    assert.equal(text(mac, anchorFile), egressRules(spec.vmEgress).text);
    expectFiltered(mac);
    mac.faults.pfBusy = false;
    assert.equal((await run(mac, { ...spec, vmEgress: { allow: [] } })).result, 'applied');
  });

  test('never writes rules that pf rejects', async () => {
    const mac = await macs.start();
    const wrong = {
      ...vmEgress,
      environment: (intent: Parameters<typeof vmEgress.environment>[0]) => ({
        ...vmEgress.environment(intent),
        RULES: 'block drop nonsense\n',
      }),
    };
    const before = footprint(mac).files;
    assert.equal((await runStep(mac, wrong, spec)).code, 1);
    assert.deepEqual(footprint(mac).files, before);
  });

  test('rejects an invalid network before anything is sent', async () => {
    const mac = await macs.start();
    const before = mac.journal.entries.length;
    const allow = [{ cidr: '10.0.0.0/33', protocol: 'tcp', ports: '1' }] as const;
    await assert.rejects(run(mac, { ...spec, vmEgress: { allow } }), /vmEgress\.allow\[0\]/);
    assert.equal(mac.journal.entries.length, before);
  });

  test('does not report a Mac without pf.conf as different', async () => {
    const mac = await macs.start();
    rmSync(mac.path(pfConf));
    const answer = await check(mac);
    assert.equal(answer.code, 1);
    assert.match(answer.stderr, /pf\.conf is missing/);
  });

  describe('the egress filter on a host of the original system', { concurrency: 2 }, () => {
    const oldJob = `<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict><key>Label</key><string>${label}</string>
<key>ProgramArguments</key><array><string>/bin/sh</string><string>-c</string><string>exec pfctl -f /etc/pf.conf -E</string></array>
<key>RunAtLoad</key><true/></dict></plist>
`;
    const ofOld = async (lines: string): Promise<Mac> => {
      const mac = await macs.start();
      writeFileSync(mac.path(anchorFile), oldRules);
      writeFileSync(mac.path(pfConf), text(mac, pfConf) + lines);
      writeFileSync(mac.path(plist), oldJob, { mode: 0o644 });
      await mac.reboot();
      return mac;
    };

    test('has the new rules at once, and no job that loads the whole ruleset', async () => {
      const mac = await ofOld(oldBlock);
      const answer = await run(mac);
      assert.equal(answer.result, 'applied', answer.stderr);
      expectFiltered(mac);
      const loads = journal(mac, 'pf.load').length;
      await mac.reboot();
      await settled(mac);
      expectFiltered(mac);
      assert.ok(!journal(mac, 'pf.load').slice(loads).includes('main'));
    });

    test('needs a reboot if pf had rejected two of our blocks', async () => {
      const mac = await ofOld(stanza + oldBlock);
      assert.equal(journal(mac, 'pf.boot').at(-1), 'rejected');
      const answer = await run(mac);
      assert.equal(answer.code, 1);
      assert.match(answer.stderr, /restart the Mac while it is idle/);
      await mac.reboot();
      assert.equal(journal(mac, 'pf.boot').at(-1), 'loaded');
      await settled(mac);
      expectFiltered(mac);
    });
  });

  describe('pf.conf', { concurrency: 1 }, () => {
    let mac: Mac;
    before(async () => {
      mac = await converged();
    });
    const stock = `#\n# Default PF configuration file.\n#\nscrub-anchor "com.apple/*"\nanchor "com.apple/*"\n`;
    const foreign =
      'anchor "tuist.sshguard"\nload anchor "tuist.sshguard" from "/etc/pf.anchors/tuist.sshguard"\n# the end\n';

    const forms: readonly (readonly [name: string, form: string, rest: string])[] = [
      ['as Apple ships it', stock, stock],
      ['with the stanza of the original system', stock + stanza, stock],
      ['with the stanza of the original system twice', stock + stanza + stanza, stock],
      ['with the stanza of the original system without its comment', stock + anchorLine + loadLine, stock],
      ['with only the half of the stanza', stock + anchorLine, stock],
      ['with only the load of it', stock + loadLine, stock],
      ['with the marked block of the original system', stock + oldBlock, stock],
      ['with stanza and block', stock + stanza + oldBlock, stock],
      ['with the block twice', stock + block + block, stock],
      ['with a block that was not finished', `${stock}# BEGIN tuist.runners\n${anchorLine}`, stock],
      [
        'with a block that was not finished, and others after it',
        `${stock}# BEGIN tuist.runners\n${oldComment}${anchorLine}${foreign}`,
        stock + foreign,
      ],
      [
        'with a block that was not finished, and a finished one',
        `${stock}# BEGIN tuist.runners\n${foreign}${block}`,
        stock + foreign,
      ],
      ['with the end of a block alone', `${stock}${loadLine}# END tuist.runners\n${foreign}`, stock + foreign],
      [
        'with something strange in the block',
        `${stock}# BEGIN tuist.runners\npass all\n${loadLine}# END tuist.runners\n`,
        stock,
      ],
      [
        'with lines that end as on Windows',
        stock + stanza.replaceAll('\n', '\r\n') + oldBlock.replaceAll('\n', '\r\n'),
        stock,
      ],
      ['with an indented stanza', `${stock}  ${anchorLine}\t${loadLine}`, stock],
      ['with others around', `${stock}${oldBlock}\n\n${foreign}`, `${stock}\n\n${foreign}`],
      ['with a last line that does not end', `${stock}# no newline`, `${stock}# no newline\n`],
      [
        'with an anchor of a name like ours',
        `${stock}anchor "tuist.runners.old"\nanchor "tuist.runnersx"\n`,
        `${stock}anchor "tuist.runners.old"\nanchor "tuist.runnersx"\n`,
      ],
      ['with odd characters', `${stock}# % \\n $HOME \`id\` 'é' "\n`, `${stock}# % \\n $HOME \`id\` 'é' "\n`],
      ['empty', '', ''],
    ];
    for (const [name, form, rest] of forms) {
      test(`${name} ends with our block once, and the rest is kept`, async () => {
        writeFileSync(mac.path(pfConf), form);
        assert.equal((await run(mac)).result, 'applied');
        assert.equal(text(mac, pfConf), rest + block);
      });
    }

    test('with a correct block is unchanged', async () => {
      writeFileSync(mac.path(pfConf), stock + block + foreign);
      assert.equal((await run(mac)).result, 'unchanged');
      assert.equal(text(mac, pfConf), stock + block + foreign);
    });
  });

  test('after any interruption is valid at boot, and a second run completes the step', async () => {
    const mac = await macs.start();
    const stock = text(mac, pfConf);
    const cuts = await cutEverywhere(vmEgress, {
      spec,
      prepare: async () => {
        await mac.run(`launchctl bootout system/${label}; pfctl -a com.apple/tuist.runners -F rules`, { asRoot: true });
        rmSync(mac.path(plist), { force: true });
        writeFileSync(mac.path(anchorFile), oldRules);
        writeFileSync(mac.path(pfConf), stock + stanza);
        return mac;
      },
      check: async (_, nth) => {
        if (nth % 4 === 0) {
          await mac.reboot();
          assert.equal(journal(mac, 'pf.boot').at(-1), 'loaded');
        }
        const answer = await run(mac);
        assert.match(answer.result ?? '', /applied|unchanged/, answer.stderr);
        assert.equal(text(mac, pfConf), stock + block);
        expectFiltered(mac);
      },
    });
    assert.ok(cuts >= 10, String(cuts));
  });

  test('is unchanged on a full disk, and the next run succeeds', async () => {
    const mac = await macs.start();
    const before = text(mac, pfConf);
    mac.faults.diskFree = 0;
    assert.notEqual((await run(mac)).code, 0);
    assert.equal(text(mac, pfConf), before);
    mac.faults.diskFree = undefined;
    assert.equal((await run(mac)).result, 'applied');
    expectFiltered(mac);
  });
});
