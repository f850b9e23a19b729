import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { exampleArtifact, exampleSpec, putInStore } from '../testing/example-spec.ts';
import { type FreshMacs, freshMacs } from '../testing/fresh-macs.ts';
import { runStep } from '../testing/run-step.ts';
import { builderTools } from './builder.ts';

describe('the step builder-tools', () => {
  let macs: FreshMacs;
  before(() => {
    macs = freshMacs();
  });
  after(() => macs.stopAll());

  const builder = async () => {
    const mac = await macs.start();
    const spec = exampleSpec(macs.folder);
    const tools = spec.ghActionsRunner;
    assert.ok(tools);
    putInStore(mac, tools.packer, tools.crane, tools.oras);
    return { mac, spec, tools };
  };

  it('installs the three tools on a fresh Mac, and a second run changes nothing', async () => {
    const { mac, spec } = await builder();
    const first = await runStep(mac, builderTools, spec);
    assert.equal(first.result, 'applied', first.stderr);
    const packer = mac.path('/usr/local/bin/packer');
    assert.equal((await mac.run(`${packer} version`)).stdout, '1.14.0\n');
    const reclaim = mac.path('/usr/local/bin/tartan-reclaim-disk');
    assert.match((await mac.run(`${reclaim} --help`)).stdout, /^Usage: tartan-reclaim-disk/);
    const inode = statSync(packer).ino;

    const recorded = mac.journal.entries.length;
    assert.equal((await runStep(mac, builderTools, spec)).result, 'unchanged');
    assert.equal(statSync(packer).ino, inode);
    assert.deepEqual(
      mac.journal.entries.slice(recorded).filter(({ what }) => what.startsWith('codesign')),
      [],
    );
  });

  it('signs every tool', async () => {
    const { mac, spec } = await builder();
    await runStep(mac, builderTools, spec);
    for (const tool of ['packer', 'crane', 'oras']) {
      const { stderr } = await mac.run(`codesign -d ${mac.path(`/usr/local/bin/${tool}`)}`);
      // Not 0x20002, which is the linker's signature.
      assert.match(stderr, /flags=0x2\(adhoc\)/);
    }
  });

  it('replaces a tool of another version by a new inode', async () => {
    const { mac, spec, tools } = await builder();
    await runStep(mac, builderTools, spec);
    const path = mac.path('/usr/local/bin/crane');
    const inode = statSync(path).ino;
    const crane = exampleArtifact(macs.folder, 'crane 0.21.0', '#!/bin/sh\n# crane\necho 0.21.0\n');
    putInStore(mac, crane);
    const upgraded = { ...spec, ghActionsRunner: { ...tools, crane } };
    const { differences, result } = await runStep(mac, builderTools, upgraded);
    assert.equal(result, 'applied');
    assert.deepEqual(differences, [`${path} is not the wanted version as we sign it`]);
    assert.equal((await mac.run(`${path} version`)).stdout, '0.21.0\n');
    assert.notEqual(statSync(path).ino, inode);
  });

  it('replaces our file when somebody else wrote it', async () => {
    const { mac, spec } = await builder();
    await runStep(mac, builderTools, spec);
    const path = mac.path('/usr/local/bin/oras');
    writeFileSync(path, '#!/bin/sh\nexit 1\n');
    assert.equal((await runStep(mac, builderTools, spec)).result, 'applied');
    assert.equal((await mac.run(`${path} version`)).stdout, '1.3.0\n');
  });

  it('reports a tool that does not run', async () => {
    const { mac, spec, tools } = await builder();
    const packer = exampleArtifact(macs.folder, 'packer 2.0.0', '#!/bin/sh\nexit 137\n');
    putInStore(mac, packer);
    const broken = await runStep(mac, builderTools, { ...spec, ghActionsRunner: { ...tools, packer } });
    assert.equal(broken.code, 1);
    assert.match(broken.stderr, /still not as wanted: .*\/packer does not run/);
  });

  it('keeps the old tool when the disk is full, and continues later', async () => {
    const { mac, spec, tools } = await builder();
    await runStep(mac, builderTools, spec);
    const path = mac.path('/usr/local/bin/packer');
    const content = readFileSync(path);
    const packer = exampleArtifact(macs.folder, 'packer 1.15.0', `#!/bin/sh\necho 1.15.0\n${'#'.repeat(5000)}\n`);
    putInStore(mac, packer);
    const upgraded = { ...spec, ghActionsRunner: { ...tools, packer } };
    mac.faults.diskFree = 1024;
    const failed = await runStep(mac, builderTools, upgraded);
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /No space left on device/);
    assert.deepEqual(readFileSync(path), content);
    assert.ok(!existsSync(`${path}.tartan-new`));
    mac.faults.diskFree = undefined;
    assert.equal((await runStep(mac, builderTools, upgraded)).result, 'applied');
  });

  it('removes what it installed, and no tool of others with the same name', async () => {
    const { mac, spec, tools } = await builder();
    const { ghActionsRunner: _, ...runnerHost } = spec;
    const theirs = mac.path('/usr/local/bin/crane');
    mkdirSync(mac.path('/usr/local/bin'), { recursive: true });
    writeFileSync(theirs, '#!/bin/sh\n');
    chmodSync(theirs, 0o755);
    assert.equal((await runStep(mac, builderTools, runnerHost)).result, 'unchanged');
    assert.ok(existsSync(theirs));

    // Only packer was installed when this push failed.
    rmSync(mac.path(`/var/db/tartan/artifacts/${tools.crane.sha256}`));
    assert.equal((await runStep(mac, builderTools, spec)).code, 1);
    assert.equal((await runStep(mac, builderTools, runnerHost)).result, 'removed');
    assert.ok(existsSync(theirs) && !existsSync(mac.path('/usr/local/bin/packer')));

    putInStore(mac, tools.crane);
    await runStep(mac, builderTools, spec);
    assert.equal((await runStep(mac, builderTools, runnerHost)).result, 'removed');
    for (const tool of ['packer', 'crane', 'oras', 'tartan-reclaim-disk'])
      assert.ok(!existsSync(mac.path(`/usr/local/bin/${tool}`)));
    assert.equal((await runStep(mac, builderTools, runnerHost)).result, 'unchanged');
  });
});
