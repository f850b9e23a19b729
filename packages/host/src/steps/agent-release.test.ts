import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Mac } from '@tartan/sim-mac';
import { agentArguments, agentReleaseID, argumentsHash } from '../agent/job.ts';
import type { HostSpec } from '../host-spec.ts';
import { cutEverywhere } from '../testing/crash-injection.ts';
import { exampleSpec } from '../testing/example-spec.ts';
import { type FreshMacs, freshMacs } from '../testing/fresh-macs.ts';
import { prepareAgent, rollAgent } from '../testing/roll-agent.ts';
import { runStep } from '../testing/run-step.ts';
import { standInAgent, standInRuntime } from '../testing/stand-in-agent.ts';
import { agentRelease } from './agent.ts';

describe('a release of the agent', () => {
  let macs: FreshMacs;
  let mac: Mac;
  let spec: HostSpec;

  before(async () => {
    macs = freshMacs();
    mac = await macs.start();
    const example = exampleSpec(macs.folder);
    spec = { ...example, agent: { ...example.agent, runtime: standInRuntime(macs.folder, 'v26.10.0') } };
    spec = version('v1');
  });
  after(() => macs.stopAll());

  const version = (name: string): HostSpec => ({
    ...spec,
    agent: { ...spec.agent, release: standInAgent(macs.folder, name) },
  });
  const home = (): string => mac.path('/usr/local/lib/tart-kubelet');
  const folderOf = (of: HostSpec): string => join(home(), 'releases', agentReleaseID(of));
  const releases = (): string[] => readdirSync(join(home(), 'releases')).sort();
  const ids = (...specs: HostSpec[]): string[] => specs.map(agentReleaseID).sort();

  const assertWhole = (of: HostSpec): void => {
    assert.deepEqual(readdirSync(folderOf(of)).sort(), ['arguments', 'node', 'tart-kubelet.mjs']);
    assert.deepEqual(readFileSync(join(folderOf(of), 'tart-kubelet.mjs')), readFileSync(of.agent.release.file));
    assert.equal(readFileSync(join(folderOf(of), 'arguments'), 'utf8'), `${argumentsHash(agentArguments(of))}\n`);
    assert.equal(readlinkSync(join(folderOf(of), 'node')), `../../runtime/${of.agent.runtime.sha256}/node`);
  };

  test('has code, expected arguments and runtime; does not become current; a second run changes nothing', async () => {
    await prepareAgent(mac, spec);
    assertWhole(spec);
    assert.equal(existsSync(join(home(), 'current')), false);
    assert.equal((await runStep(mac, agentRelease, spec)).result, 'unchanged');
  });

  for (const file of ['tart-kubelet.mjs', 'arguments']) {
    test(`is created again when its ${file} was damaged`, async () => {
      writeFileSync(join(folderOf(spec), file), 'damaged');
      assert.equal((await runStep(mac, agentRelease, spec)).result, 'applied');
      assertWhole(spec);
    });
  }

  test('keeps the current and the previous release, and removes older ones', async () => {
    const [v2, v3, v4] = [version('v2'), version('v3'), version('v4')];
    for (const each of [spec, v2, v3]) assert.equal((await rollAgent(mac, each)).code, 0);
    assert.deepEqual(releases(), ids(spec, v2, v3));
    await prepareAgent(mac, v4);
    assert.deepEqual(releases(), ids(v2, v3, v4));
  });

  test('keeps also the last proven one, when another was chosen and interrupted', async () => {
    const [v2, v3, v4, v5] = [version('v2'), version('v3'), version('v4'), version('v5')];
    for (const each of [v2, v3]) assert.equal((await rollAgent(mac, each)).code, 0);
    await prepareAgent(mac, v4);
    await mac.run(`ln -sfn releases/${agentReleaseID(v4)} "$TARTAN_ROOT/usr/local/lib/tart-kubelet/current"`, {
      asRoot: true,
    });
    await prepareAgent(mac, v5);
    assert.deepEqual(releases(), ids(v2, v3, v4, v5));
  });

  test('that was not uploaded completely is rejected', async () => {
    const missing = version('never uploaded');
    assert.match((await runStep(mac, agentRelease, missing)).stderr, /was not uploaded: push again/);
    writeFileSync(mac.path(`/var/db/tartan/artifacts/${missing.agent.release.sha256}`), 'half of');
    assert.match((await runStep(mac, agentRelease, missing)).stderr, /is damaged: push again/);
    assert.equal(existsSync(folderOf(missing)), false);
  });

  test('is complete or absent after an interruption at any point', async () => {
    const cuts = await cutEverywhere(agentRelease, {
      spec,
      prepare: async () => {
        rmSync(mac.path('/usr/local/lib'), { recursive: true, force: true });
        return mac;
      },
      check: async (_, nth) => {
        if (existsSync(folderOf(spec))) assertWhole(spec);
        const finished = await runStep(mac, agentRelease, spec);
        assert.equal(finished.code, 0, `cut ${nth}: ${finished.stderr}`);
        assertWhole(spec);
      },
    });
    assert.ok(cuts > 5, `${cuts} cuts`);
  });

  test('is removed when it is not wanted', async () => {
    await prepareAgent(mac, spec);
    const off = { ...agentRelease, intent: () => undefined };
    assert.equal((await runStep(mac, off, spec)).result, 'removed');
    assert.equal(existsSync(mac.path('/usr/local/lib/tart-kubelet/releases')), false);
    assert.equal((await runStep(mac, off, spec)).result, 'unchanged');
  });
});
