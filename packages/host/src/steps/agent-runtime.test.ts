import assert from 'node:assert/strict';
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Mac } from '@tartan/sim-mac';
import type { HostSpec } from '../host-spec.ts';
import { cutEverywhere } from '../testing/crash-injection.ts';
import { exampleArtifact, exampleSpec, putInStore } from '../testing/example-spec.ts';
import { type FreshMacs, freshMacs } from '../testing/fresh-macs.ts';
import { prepareAgent } from '../testing/roll-agent.ts';
import { runStep } from '../testing/run-step.ts';
import { agentRuntime } from './agent.ts';

describe('the agent’s runtime', () => {
  let macs: FreshMacs;
  let mac: Mac;
  let spec: HostSpec;

  before(async () => {
    macs = freshMacs();
    mac = await macs.start();
    spec = exampleSpec(macs.folder);
  });
  after(() => macs.stopAll());

  const withRuntime = (content: string): HostSpec => ({
    ...spec,
    agent: { ...spec.agent, runtime: exampleArtifact(macs.folder, 'node', content) },
  });
  const fileOf = ({ agent }: HostSpec): string =>
    mac.path(`/usr/local/lib/tart-kubelet/runtime/${agent.runtime.sha256}/node`);
  const runtimes = (): string[] => readdirSync(mac.path('/usr/local/lib/tart-kubelet/runtime')).sort();

  test('is installed unchanged and executable, and a second run changes nothing', async () => {
    putInStore(mac, spec.agent.runtime);
    const first = await runStep(mac, agentRuntime, spec);
    assert.equal(first.result, 'applied', first.stderr);
    assert.deepEqual(readFileSync(fileOf(spec)), readFileSync(spec.agent.runtime.file));
    assert.equal(lstatSync(fileOf(spec)).mode & 0o777, 0o755);
    const inode = lstatSync(fileOf(spec)).ino;
    assert.equal((await runStep(mac, agentRuntime, spec)).result, 'unchanged');
    assert.equal(lstatSync(fileOf(spec)).ino, inode);
  });

  test('is replaced by a new file when it was damaged, never written in place (INC-10)', async () => {
    const inode = lstatSync(fileOf(spec)).ino;
    writeFileSync(fileOf(spec), 'damaged');
    const mended = await runStep(mac, agentRuntime, spec);
    assert.equal(mended.result, 'applied', mended.stderr);
    assert.deepEqual(mended.differences, [`the runtime ${spec.agent.runtime.sha256} is damaged`]);
    assert.notEqual(lstatSync(fileOf(spec)).ino, inode);
  });

  test('is removed when no release needs it any more, and not before', async () => {
    const used = withRuntime('used by a release');
    await prepareAgent(mac, used);
    const next = withRuntime('next');
    putInStore(mac, next.agent.runtime);
    assert.equal((await runStep(mac, agentRuntime, next)).result, 'applied');
    assert.deepEqual(runtimes(), [used.agent.runtime.sha256, next.agent.runtime.sha256].sort());
  });

  test('that was not uploaded completely is rejected and replaces nothing', async () => {
    const missing = withRuntime('never uploaded');
    assert.match((await runStep(mac, agentRuntime, missing)).stderr, /was not uploaded: push again/);
    writeFileSync(mac.path(`/var/db/tartan/artifacts/${missing.agent.runtime.sha256}`), 'half of');
    assert.match((await runStep(mac, agentRuntime, missing)).stderr, /is damaged: push again/);
    assert.equal(existsSync(fileOf(missing)), false);
  });

  test('is complete after any interruption, and never installed partly', async () => {
    const cuts = await cutEverywhere(agentRuntime, {
      spec,
      prepare: async () => {
        rmSync(mac.path('/usr/local/lib'), { recursive: true, force: true });
        return mac;
      },
      check: async (_, nth) => {
        if (existsSync(fileOf(spec))) {
          assert.deepEqual(readFileSync(fileOf(spec)), readFileSync(spec.agent.runtime.file), `cut ${nth}`);
        }
        const finished = await runStep(mac, agentRuntime, spec);
        assert.equal(finished.code, 0, `cut ${nth}: ${finished.stderr}`);
        assert.deepEqual(runtimes(), [spec.agent.runtime.sha256]);
      },
    });
    assert.ok(cuts > 5, `${cuts} cuts`);
  });

  test('is removed when it is not wanted', async () => {
    await prepareAgent(mac, spec);
    const off = { ...agentRuntime, intent: () => undefined };
    assert.equal((await runStep(mac, off, spec)).result, 'removed');
    assert.equal(existsSync(mac.path('/usr/local/lib/tart-kubelet/runtime')), false);
    assert.equal((await runStep(mac, off, spec)).result, 'unchanged');
  });
});
