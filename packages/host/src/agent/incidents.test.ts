import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { HostSpec } from '../host-spec.ts';
import { renderPlist } from '../launchd-plist.ts';
import { exampleSpec } from '../testing/example-spec.ts';
import { agentArguments, agentLaunchdJob } from './job.ts';

/** Production incidents in how the agent is run, by number. */
describe('the job of the agent', () => {
  let folder: string;
  let spec: HostSpec;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-incidents-'));
    spec = exampleSpec(folder);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('INC-02: no script on a Mac needs a terminal, as nohup would', () => {
    const scripts = join(import.meta.dirname, '../../scripts');
    const files = readdirSync(scripts, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.sh'));
    assert.ok(files.length > 20);
    for (const name of files) {
      const commands = readFileSync(join(scripts, name), 'utf8').replaceAll(/^\s*#.*$/gm, '');
      assert.doesNotMatch(commands, /\bnohup\b|\/dev\/tty\b|\btty\b|\bstty\b/, name);
    }
    assert.ok(!agentLaunchdJob(spec).ProgramArguments.includes('nohup'));
  });

  test('INC-04: launchd does not kill the children of the agent, so an upgrade kills no VM', () => {
    assert.match(renderPlist(agentLaunchdJob(spec)), /<key>AbandonProcessGroup<\/key>\s*<true\/>/);
  });

  test('INC-38: first boot and roll pass the same provider ID', () => {
    const providerID = 'scw-applesilicon://fr-par-1/2f4b';
    const held = { ...spec, agent: { ...spec.agent, providerID } };
    const rolled = { ...held, agent: { ...held.agent, release: held.agent.runtime } };
    for (const each of [held, rolled]) {
      assert.ok(agentArguments(each).includes(`--provider-id=${providerID}`));
      assert.ok(renderPlist(agentLaunchdJob(each)).includes(`--provider-id=${providerID}`));
    }
  });

  test('INC-41: the number of Pods is separate from the number of VM slots', () => {
    const args = agentArguments({ ...spec, agent: { ...spec.agent, maxPods: 3 } });
    assert.ok(args.includes('--max-pods=3'));
    assert.ok(!args.some((arg) => arg.startsWith('--vm-slots')), 'the agent holds to what macOS allows by itself');
  });
});
