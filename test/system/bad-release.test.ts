import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { annotations, macFleet, type MacFleet, machine } from '@tartan/api';
import { getCondition, nodes } from '@tartan/kube';
import { type Harness, namespace, startHarness } from './harness.ts';
import type { RunningProvider } from './provider.ts';

const fleet = 'fleet-a';
const machines = ['mac-a', 'mac-b'];
type Node = NonNullable<(typeof nodes)['ofType']>;

const isReadyWith =
  (version: string) =>
  ({ metadata, status }: Node): boolean =>
    metadata?.annotations?.[annotations.agentVersion] === `v${version}` &&
    (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True');

/** Exits right after its start: before a Mac that is a hundred times as fast counts it as running. */
const ends = '#!/bin/sh\nexit 1\n';

/** The agent with a bug: it cannot start any command, so it never finds a working tart. */
const withoutCommands = (agent: string): string => {
  const defect = `
import commandsOfNode from 'node:child_process';
import { syncBuiltinESMExports as publishDefect } from 'node:module';
for (const name of ['spawn', 'execFile']) commandsOfNode[name] = () => { throw new Error('no commands here'); };
publishDefect();
`;
  return agent.replace(/^#!.*\n/, (line) => `${line}${defect}`);
};

const stallOf = ({ status }: MacFleet): string | undefined => {
  const condition = getCondition(status?.conditions ?? [], 'Stalled');
  return condition?.status === 'True' ? condition.reason : undefined;
};

describe('a broken release', { timeout: 240_000 }, () => {
  let harness: Harness;
  let provider: RunningProvider;
  /** The releases of the agent on each Mac. Its starts would not do: an agent may exit and restart by itself at any time. */
  const releases = (): string[] =>
    machines.map((name) => {
      const mac = harness.serverNamed(name)?.mac;
      return mac ? readdirSync(mac.path('/usr/local/lib/tart-kubelet/releases')).join() : '';
    });

  before(async () => {
    harness = await startHarness({ macs: 2, fleet });
    const spec = { gateDeadlineSeconds: 2 };
    await harness.client.create(macFleet.resource, macFleet.make({ metadata: { namespace, name: fleet }, spec }));
    provider = await harness.startProvider({ version: '0.1.0' });
    for (const name of machines) await harness.createMachine(name);
    for (const name of machines)
      await harness.waitFor(machine.resource, name, 'is ready', ({ status }) => status?.ready === true);
  });
  after(() => harness.stop());

  test('an agent that does not start is rolled back on the first Mac', async () => {
    await provider.stop();
    const before = releases();
    provider = await harness.startProvider({ version: '0.2.0', runtime: ends }, '--tartkubelet-max-update-attempts=1');
    await harness.waitFor(macFleet.resource, fleet, 'has stopped', (each) => stallOf(each) === 'PushRejected');
    for (const name of machines) await harness.waitFor(nodes, name, 'runs 0.1.0', isReadyWith('0.1.0'));
    assert.equal(releases().filter((each, at) => each !== before[at]).length, 1);
  });

  test('an agent that never becomes Ready stops the roll at the first Mac', async () => {
    await provider.stop();
    const before = releases();
    provider = await harness.startProvider({ version: '0.3.0', corrupt: withoutCommands });
    await harness.waitFor(macFleet.resource, fleet, 'has stopped', (each) => stallOf(each) === 'GateDeadlineExceeded');
    assert.equal(releases().filter((each, at) => each !== before[at]).length, 1);
    const { items } = await harness.client.list(nodes);
    assert.equal(items.filter(isReadyWith('0.1.0')).length, 1);
  });
});
