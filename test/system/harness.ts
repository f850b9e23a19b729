import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { machine, type MachineSpec } from '@tartan/api';
import type { Client, Transport } from '@tartan/kube';
import {
  type AgentRelease,
  artifactFlags,
  createInstaller,
  ensureSSHKey,
  fleetNamespace,
  installProvider,
  type MacPool,
  providerFlags,
  startEmbedded,
  startMacPool,
} from '@tartan/sim-fleet';
import type { SimulatedServer } from '@tartan/sim-scaleway';
import { clusterMember } from '../../packages/provider/src/core/testing/cluster-member.ts';
import { type ManagerProcess, startManager } from '../../packages/provider/src/manager/testing/manager-process.ts';
import { type RunningProvider, startProvider } from './provider.ts';
import { createWaits, type Waits } from './waits.ts';

export const namespace = fleetNamespace;

export interface HarnessOptions {
  /** In the pool at the start. */
  readonly macs: number;
  readonly fleet: string;
  /** Of Macs; Scaleway is faster still, so that a reinstall takes less than a second. */
  readonly pace?: number;
}

/** Everything around providers, and the providers: Kubernetes over HTTPS, Scaleway over HTTP, Macs over SSH. */
export interface Harness extends Waits {
  readonly client: Client;
  readonly transport: Transport;
  readonly macs: MacPool;
  /** A provider in this process that installs this agent on Macs. It is stopped with the harness at the latest. */
  startProvider(agent: AgentRelease, ...flags: readonly string[]): Promise<RunningProvider>;
  /** The same in its own process, which ends with the test. */
  startProcess(t: TestContext, agent: AgentRelease, ...flags: readonly string[]): Promise<ManagerProcess>;
  createMachine(name: string, spec?: Partial<MachineSpec>): Promise<void>;
  /** The server with this name at Scaleway. */
  serverNamed(name: string): SimulatedServer | undefined;
  /** All log lines of the providers in this process. */
  readonly log: readonly string[];
  stop(): Promise<void>;
}

export const startHarness = async (options: HarnessOptions): Promise<Harness> => {
  const { macs: count, fleet, pace = 0.01 } = options;
  const folder = mkdtempSync(join(tmpdir(), 'tartan-harness-'));
  const stops: (() => Promise<unknown>)[] = [async () => rmSync(folder, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).toReversed()) await each();
  };
  try {
    const controlPlane = await startEmbedded({ folder });
    stops.push(controlPlane.stop);
    await installProvider(controlPlane, createInstaller(controlPlane.client), providerFlags);
    const { client } = controlPlane;
    const macs = await startMacPool({ folder, pace, scalewayPace: pace / 10 });
    stops.push(macs.stop);
    await ensureSSHKey(client, macs.pool, fleet);
    await macs.order(count);
    const log: string[] = [];
    return {
      client,
      transport: controlPlane.transport,
      macs,
      log,
      startProvider: async (agent, ...flags) => {
        const provider = await startProvider({
          controlPlane,
          macs,
          flags: [...(await artifactFlags(folder, agent)), '--log-level=debug', ...flags],
          intervals: { hosts: { pollMs: 100 } },
          write: (line) => log.push(line),
        });
        stops.push(provider.stop);
        return provider;
      },
      startProcess: async (t, agent, ...flags) =>
        startManager(
          t,
          [
            ...providerFlags,
            `--kubeconfig=${controlPlane.kubeconfig}`,
            ...(await artifactFlags(folder, agent)),
            ...flags,
          ],
          macs.environment,
        ),
      createMachine: async (name, spec = {}) => {
        const at = { namespace, name };
        const metadata = { ...at, ...(await clusterMember(client, at)) };
        const object = machine.make({ metadata, spec: { fleetName: fleet, ...spec } });
        await client.create(machine.resource, object);
      },
      serverNamed: (name) => macs.scaleway.servers().find((server) => server.name === name),
      ...createWaits(client),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
