import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { Mac } from '@tartan/sim-mac';
import type { HostSpec } from '../host-spec.ts';
import { exampleArtifact, exampleSpec, putInStore } from '../testing/example-spec.ts';
import { type FreshMacs, freshMacs } from '../testing/fresh-macs.ts';
import { runStep } from '../testing/run-step.ts';
import { nodeExporter } from './node-exporter.ts';

const job = 'dev.tuist.node-exporter';
const exporter = '/usr/local/bin/node_exporter';
const wrapper = '/usr/local/bin/tuist-node-exporter-wrapper';

const executable = (path: string, text: string): void => {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
};

describe('the step node-exporter', () => {
  let macs: FreshMacs;
  before(() => {
    macs = freshMacs();
  });
  after(() => macs.stopAll());

  const specOf = (version: string, behaviour = 'while :; do sleep 1000; done'): HostSpec => ({
    ...exampleSpec(macs.folder),
    nodeExporter: exampleArtifact(
      macs.folder,
      `node_exporter ${version}`,
      `#!/bin/sh\necho "${version} $*"\n${behaviour}\n`,
    ),
  });
  const onTailnet = (mac: Mac): void => {
    mkdirSync(mac.path('/usr/local/bin'), { recursive: true });
    executable(mac.path('/usr/local/bin/tailscale'), '#!/bin/sh\n[ "$1 $2" = "ip -4" ] && echo 100.64.0.7\n');
  };
  const store = (mac: Mac, spec: HostSpec): void => {
    if (spec.nodeExporter) putInStore(mac, spec.nodeExporter);
  };
  const macWith = async (spec: HostSpec, pace?: number): Promise<Mac> => {
    const mac = await macs.start(pace === undefined ? {} : { pace });
    onTailnet(mac);
    store(mac, spec);
    return mac;
  };
  const log = (mac: Mac): string => readFileSync(mac.path('/var/log/tuist-node-exporter.log'), 'utf8');
  const launchd = (mac: Mac, since: number): string[] =>
    mac.journal.entries.slice(since).flatMap(({ what }) => (what.startsWith('launchd.') ? [what] : []));

  it('listens on the tailnet address only, and a second run restarts nothing', async () => {
    const spec = specOf('1.8.2');
    const mac = await macWith(spec);
    const first = await runStep(mac, nodeExporter, spec);
    assert.equal(first.result, 'applied', first.stderr);
    assert.match(
      log(mac),
      /^1\.8\.2 --web\.listen-address=100\.64\.0\.7:9100 --collector\.disable-defaults --collector\.cpu /,
    );
    const running = mac.job(job);
    assert.equal(running?.state, 'running');

    const recorded = mac.journal.entries.length;
    assert.equal((await runStep(mac, nodeExporter, spec)).result, 'unchanged');
    assert.deepEqual(mac.job(job), running);
    assert.deepEqual(launchd(mac, recorded), []);
  });

  it('restarts without a new registration when only the executable changes', async () => {
    const mac = await macWith(specOf('1.8.2'));
    await runStep(mac, nodeExporter, specOf('1.8.2'));
    const upgraded = specOf('1.9.0');
    store(mac, upgraded);
    const recorded = mac.journal.entries.length;
    assert.equal((await runStep(mac, nodeExporter, upgraded)).result, 'applied');
    assert.match(log(mac), /^1\.9\.0 /m);
    assert.ok(!launchd(mac, recorded).includes('launchd.bootstrap'));
  });

  it('restarts the job later when a restart had no effect', async () => {
    const mac = await macWith(specOf('1.8.2'));
    await runStep(mac, nodeExporter, specOf('1.8.2'));
    const upgraded = specOf('1.9.0');
    store(mac, upgraded);
    mac.faults.kickstart = 'no-op';
    const failed = await runStep(mac, nodeExporter, upgraded);
    assert.equal(failed.code, 1);
    assert.doesNotMatch(log(mac), /^1\.9\.0 /m);
    mac.faults.kickstart = 'normal';
    // The file and the job are already right; only the process is old.
    const { differences } = await runStep(mac, nodeExporter, upgraded);
    assert.deepEqual(differences, [`the launchd job ${job} was not started with what is installed`]);
    assert.match(log(mac), /^1\.9\.0 /m);
  });

  it('repairs an executable that the original system overwrote in place', async () => {
    const spec = specOf('1.8.2');
    const mac = await macWith(spec);
    executable(mac.path(exporter), '#!/bin/sh\nwhile :; do sleep 1000; done\n');
    const label = '<key>Label</key><string>dev.tuist.node-exporter</string>';
    const program = `<key>ProgramArguments</key><array><string>${exporter}</string></array><key>KeepAlive</key><true/>`;
    writeFileSync(
      mac.path(`/Library/LaunchDaemons/${job}.plist`),
      `<plist version="1.0"><dict>${label}${program}</dict></plist>`,
    );
    await mac.run(`launchctl bootstrap system ${mac.path(`/Library/LaunchDaemons/${job}.plist`)}`, { asRoot: true });
    assert.equal(mac.job(job)?.state, 'running');
    // As the bootstrap of the original system did: tee, onto the same inode, under the running process.
    writeFileSync(mac.path(exporter), '#!/bin/sh\n# newer\nwhile :; do sleep 1000; done\n');
    await mac.run(`launchctl kickstart -k system/${job}`, { asRoot: true });
    assert.notEqual(mac.job(job)?.state, 'running');

    const healed = await runStep(mac, nodeExporter, spec);
    assert.equal(healed.result, 'applied', healed.stderr);
    assert.equal(mac.job(job)?.state, 'running');
  });

  it('fails when the process does not stay up, and shows the end of its log', async () => {
    const spec = specOf('1.8.2', 'echo "no such collector"; exit 1');
    // Slower than the others: on a busy machine a process that is about to end must not count as one that stays up.
    const mac = await macWith(spec, 0.2);
    const failed = await runStep(mac, nodeExporter, spec);
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /no such collector/);
    assert.match(failed.stderr, /node_exporter does not stay up/);
  });

  it('needs a tailnet address first', async () => {
    const spec = specOf('1.8.2');
    const mac = await macs.start();
    store(mac, spec);
    const failed = await runStep(mac, nodeExporter, spec);
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /no address on the tailnet/);
    assert.equal(mac.job(job), undefined);
  });

  it('is removed when it is switched off, and when the host leaves the tailnet', async () => {
    const spec = specOf('1.8.2');
    const mac = await macWith(spec);
    const { nodeExporter: _, ...without } = spec;
    const { tailscale: __, ...offTailnet } = spec;
    for (const off of [without, offTailnet]) {
      assert.equal((await runStep(mac, nodeExporter, spec)).result, 'applied');
      assert.equal((await runStep(mac, nodeExporter, off)).result, 'removed');
      assert.equal(mac.job(job), undefined);
      for (const file of [
        exporter,
        wrapper,
        `/Library/LaunchDaemons/${job}.plist`,
        '/var/log/tuist-node-exporter.log',
      ]) {
        assert.ok(!existsSync(mac.path(file)), file);
      }
      assert.equal((await runStep(mac, nodeExporter, off)).result, 'unchanged');
    }
  });
});
