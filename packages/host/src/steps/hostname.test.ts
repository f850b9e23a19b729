import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Mac } from '@tartan/sim-mac';
import type { HostSpec } from '../host-spec.ts';
import { cutEverywhere } from '../testing/crash-injection.ts';
import { exampleSpec } from '../testing/example-spec.ts';
import { footprint } from '../testing/footprint.ts';
import { type FreshMacs, freshMacs } from '../testing/fresh-macs.ts';
import { runStep } from '../testing/run-step.ts';
import { hostname } from './hostname.ts';

describe('hostname', { concurrency: 2 }, () => {
  let macs: FreshMacs;
  let spec: HostSpec;
  let mac: Mac;
  before(async () => {
    macs = freshMacs();
    spec = exampleSpec(macs.folder);
    mac = await macs.start();
  });
  after(() => macs.stopAll());

  const names = async (of: Mac): Promise<string[]> => {
    const { stdout } = await of.run('for name in HostName LocalHostName ComputerName; do scutil --get "$name"; done');
    return stdout.trimEnd().split('\n');
  };

  const table: readonly (readonly [name: string, nodeName: string, local: string])[] = [
    ['a plain name is taken as it is', 'mac-7', 'mac-7'],
    ['for Bonjour, dots and underscores become dashes', 'mac-7.fleet_a', 'mac-7-fleet-a'],
    ['for Bonjour, a name is cut to one label', `${'x'.repeat(62)}.y`, 'x'.repeat(62)],
    ['quotes are no harm', `it's"$(id)"`, 'it-s---id'],
  ];
  for (const [name, nodeName, local] of table) {
    test(name, async () => {
      const own = await macs.start();
      const answer = await runStep(own, hostname, { ...spec, nodeName });
      assert.deepEqual([answer.result, answer.stderr], ['applied', '']);
      assert.deepEqual(await names(own), [nodeName, local, nodeName]);
      const before = footprint(own);
      assert.equal((await runStep(own, hostname, { ...spec, nodeName })).result, 'unchanged');
      assert.deepEqual(footprint(own), before);
    });
  }

  test('only a different name is set', async () => {
    const own = await macs.start();
    await runStep(own, hostname, spec);
    await own.run('scutil --set ComputerName other', { asRoot: true });
    const before = own.journal.entries.length;
    assert.equal((await runStep(own, hostname, spec)).result, 'applied');
    const set = own.journal.entries.slice(before).filter(({ what }) => what === 'scutil');
    assert.deepEqual(
      set.map(({ detail }) => detail),
      [`ComputerName ${spec.nodeName}`],
    );
  });

  test('after any interruption, a second run completes the step', async () => {
    const cuts = await cutEverywhere(hostname, {
      spec,
      prepare: async () => {
        await mac.run('for name in HostName LocalHostName ComputerName; do scutil --set "$name" before; done', {
          asRoot: true,
        });
        return mac;
      },
      check: async () => {
        assert.match((await runStep(mac, hostname, spec)).result ?? '', /applied|unchanged/);
        assert.deepEqual(await names(mac), ['mac-7.fleet_a', 'mac-7-fleet-a', 'mac-7.fleet_a']);
      },
    });
    assert.ok(cuts >= 3, String(cuts));
  });

  for (const nodeName of ['', '--', 'two words', 'line\nbreak']) {
    test(`${JSON.stringify(nodeName)} is an error before anything is sent`, async () => {
      await assert.rejects(runStep(mac, hostname, { ...spec, nodeName }), /is no name for a Mac/);
    });
  }
});
