import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { annotations, machine, macHost } from '@tartan/api';
import { nodes } from '@tartan/kube';
import { testDeadline } from '@tartan/kube/testing';
import {
  fleetNamespace as namespace,
  type Simulation,
  type SimulationOptions,
  startSimulation,
  untilMachinesReady,
} from '@tartan/sim-fleet';
import { catalogue } from '../../packages/cli/src/fault/catalogue.ts';
import { runFault } from '../../packages/cli/src/fault/run-fault.ts';
import { isReadyNode } from '../../packages/cli/src/fault/targets.ts';

/** What takes minutes at the real Scaleway, and seconds at `tartan up`, is polled more often. */
const impatient = ['--inventory-interval=1s', '--host-poll-interval=100ms', '--orphan-reclaim-interval=1s'];

/** A real simulation of two machines, to inject faults and check the result. */
export const startHarness = async (pool: number, parts: Pick<SimulationOptions, 'runners'> = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-faults-'));
  const fleets = { macos: 1, runners: 1 };
  const simulation: Simulation = await startSimulation({
    folder,
    pool,
    fleets,
    pace: 0.005,
    scalewayPace: 0.004,
    flags: impatient,
    ...parts,
  });
  const { client } = simulation.controlPlane;
  const stopping = new AbortController();
  const running = new Set<Promise<unknown>>();
  /** A fault that a failed test left running would wait for its own timeouts. */
  const stop = async (): Promise<void> => {
    stopping.abort();
    await Promise.all(running);
    await simulation.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  if (!(await untilMachinesReady(client, 2, testDeadline()))) {
    await stop();
    throw new Error('waited in vain for two machines');
  }
  return {
    simulation,
    client,
    /** Returns the output. Fails unless the fault ended as expected. */
    play: async (name: string): Promise<string> => {
      const fault = catalogue.find((each) => each.name === name);
      assert(fault, name);
      const lines: string[] = [];
      const { signal } = stopping;
      const result = runFault(fault, { simulation, report: (line) => void lines.push(line), signal });
      running.add(result);
      const { ending, text } = await result;
      assert.equal(ending, 'as expected', [...lines, text].join('\n'));
      return lines.join('\n');
    },
    /** The agent version of each machine: `undefined` if it is not Ready. */
    agents: async (): Promise<(string | undefined)[]> => {
      const all = new Map((await client.list(nodes)).items.map((node) => [node.metadata.name, node]));
      const { items } = await client.list(machine.resource, { namespace });
      return items.map(({ metadata, status }) => {
        const node = all.get(metadata.name);
        const ready = status?.ready === true && node !== undefined && isReadyNode(node);
        return ready ? node.metadata.annotations?.[annotations.agentVersion] : undefined;
      });
    },
    hosts: async () => (await client.list(macHost.resource)).items,
    stop,
  };
};

export type Harness = Awaited<ReturnType<typeof startHarness>>;
