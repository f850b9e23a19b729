import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { labels, machine, vmStartCondition, vmStartTaint } from '@tartan/api';
import { nodes, pods } from '@tartan/kube';
import { fleetNames } from '@tartan/sim-fleet';
import type { Mac } from '@tartan/sim-mac';
import { demoPod } from '../../packages/cli/src/up/demo-pod.ts';
import { type Harness, namespace, startHarness } from './harness.ts';

type Node = NonNullable<(typeof nodes)['ofType']>;

const isTainted = ({ spec }: Node): boolean => spec?.taints?.some(({ key }) => key === vmStartTaint.key) === true;
const reasonOf = ({ status }: Node): string | undefined =>
  status?.conditions?.find(({ type }) => type === vmStartCondition)?.reason;

describe('a Mac that cannot start VMs, with the shipped agent and manager', {
  timeout: 240_000,
}, () => {
  let harness: Harness;
  let mac: Mac;
  const control = (name: string, value?: string): void => {
    const folder = mac.path('/Users/m1/.tart/.fake/host');
    mkdirSync(folder, { recursive: true });
    if (value === undefined) rmSync(`${folder}/${name}`, { force: true });
    else writeFileSync(`${folder}/${name}`, `${value}\n`);
  };
  const addPod = async (name: string): Promise<void> => {
    const { spec, ...rest } = demoPod(name);
    const nodeSelector = { ...spec.nodeSelector, [labels.fleet]: fleetNames[0] };
    const [{ env, image, name: container }] = spec.containers;
    await harness.client.create(pods, {
      ...rest,
      spec: { ...spec, nodeSelector, containers: [{ env: [...env], image, name: container }] },
    });
  };
  const runs = (name: string) => harness.waitFor(pods, name, 'runs', ({ status }) => status?.phase === 'Running');
  const isRefused = (name: string) =>
    harness.waitFor(
      pods,
      name,
      'waits',
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'TartCreateFailed',
    );
  const deletePod = async (name: string): Promise<void> => {
    await harness.client.delete(pods, { namespace, name }, { gracePeriodSeconds: 1 });
    await harness.waitUntilGone(pods, name);
  };
  const tainted = (reason: string) =>
    harness.waitFor(nodes, 'mac-a', 'is tainted', (node) => isTainted(node) && reasonOf(node) === reason);
  const open = () =>
    harness.waitFor(nodes, 'mac-a', 'is open', (node) => !isTainted(node) && reasonOf(node) === 'NotRefused');

  before(async () => {
    harness = await startHarness({ macs: 1, fleet: fleetNames[0] });
    await harness.startProvider({ version: '0.1.0' });
    await harness.createMachine('mac-a');
    await harness.waitFor(machine.resource, 'mac-a', 'is ready', ({ status }) => status?.ready === true);
    const found = harness.serverNamed('mac-a')?.mac;
    assert(found);
    mac = found;
  });
  after(() => harness.stop());

  test('with a locked keychain keeps its Pod waiting and gets no other, until a VM starts', async () => {
    await open();
    control('keychain', 'locked');
    await addPod('first');
    const refused = await isRefused('first');
    assert.equal(refused.status?.phase, 'Pending');
    await tainted('StartsRefused');
    await addPod('second');
    const waiting = await harness.waitFor(pods, 'second', 'is not scheduled', ({ status }) =>
      (status?.conditions ?? []).some(({ type, status: is }) => type === 'PodScheduled' && is === 'False'),
    );
    assert.equal(waiting.spec?.nodeName, undefined);
    control('keychain');
    await runs('first');
    await open();
    await runs('second');
  });

  test('with leaked slots is tainted until it was rebooted', async () => {
    control('leaks', 'true');
    await deletePod('first');
    await deletePod('second');
    await addPod('third');
    await isRefused('third');
    await tainted('SlotsLeaked');
    control('leaks');
    await mac.reboot();
    await open();
    await runs('third');
  });
});
