import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { annotations, machine, macFleet, type MacFleet, macNames } from '@tartan/api';
import { getCondition, nodes } from '@tartan/kube';
import type { RunningProvider } from './provider.ts';
import { namespace, startWorld, type World } from './world.ts';

const fleet = 'fleet-a';
const machines = ['mac-a', 'mac-b'];
type Node = NonNullable<(typeof nodes)['ofType']>;

const isReadyWith =
  (version: string) =>
  ({ metadata, status }: Node): boolean =>
    metadata?.annotations?.[annotations.agentVersion] === `v${version}` &&
    (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True');

/** Ends as soon as it has started, sooner than a Mac that is a hundred times as fast takes it for one that stays. */
const ends = '#!/bin/sh\nexit 1\n';

/** The agent with a defect: it can start no command, so that it never hears of a tart that works. */
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

describe('a release that is no good', { timeout: 240_000 }, () => {
  let world: World;
  let provider: RunningProvider;
  const isStart = ({ what, detail }: { what: string; detail: string }): boolean =>
    what === 'launchd.spawn' && detail.startsWith(`${macNames.agentJob} `);
  /** How often the agent of each Mac was started. */
  const starts = (): number[] =>
    machines.map((name) => world.serverNamed(name)?.mac?.journal.entries.filter(isStart).length ?? 0);

  before(async () => {
    world = await startWorld({ macs: 2, fleet });
    const spec = { gateDeadlineSeconds: 2 };
    await world.client.create(macFleet.resource, macFleet.make({ metadata: { namespace, name: fleet }, spec }));
    provider = await world.startProvider({ version: '0.1.0' });
    for (const name of machines) await world.createMachine(name);
    for (const name of machines)
      await world.waitFor(machine.resource, name, 'is ready', ({ status }) => status?.ready === true);
  });
  after(() => world.stop());

  test('one that does not run is refused by the first Mac, which keeps what it had', async () => {
    await provider.stop();
    const before = starts();
    provider = await world.startProvider({ version: '0.2.0', runtime: ends }, '--tartkubelet-max-update-attempts=1');
    await world.waitFor(macFleet.resource, fleet, 'has stopped', (each) => stallOf(each) === 'PushRejected');
    for (const name of machines) await world.waitFor(nodes, name, 'runs 0.1.0', isReadyWith('0.1.0'));
    assert.equal(starts().filter((count, at) => count !== before[at]).length, 1);
  });

  test('one that never becomes Ready stops the roll at the first Mac', async () => {
    await provider.stop();
    const before = starts();
    provider = await world.startProvider({ version: '0.3.0', corrupt: withoutCommands });
    await world.waitFor(macFleet.resource, fleet, 'has stopped', (each) => stallOf(each) === 'GateDeadlineExceeded');
    assert.equal(starts().filter((count, at) => count !== before[at]).length, 1);
    const { items } = await world.client.list(nodes);
    assert.equal(items.filter(isReadyWith('0.1.0')).length, 1);
  });
});
