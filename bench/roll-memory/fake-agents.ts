import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { annotations, macNames } from '@tartan/api';
import { summaryOf } from '@tartan/host';
import { type Client, isKubeError, nodes } from '@tartan/kube';
import { sleep, systemClock, timestamp } from '@tartan/kube/clock';
import type { Mac } from '@tartan/sim-mac';
import type { SimulatedServer } from '@tartan/sim-scaleway';

/**
 * The agents of many Macs without a process for each: an administrator writes the parts of their Nodes that a roll reads. Otherwise a whole
 * Node.js per Mac would be measured.
 */
export const startFakeAgents = (client: Client, servers: readonly SimulatedServer[]): (() => Promise<void>) => {
  const ending = new AbortController();
  const playing = servers.map((server) => play(client, server, ending.signal));
  return async () => {
    ending.abort();
    await Promise.all(playing);
  };
};

const lookMs = 200;
/** A Node without a heartbeat for 40 s counts as lost. */
const heartbeatMs = 10_000;

const play = async (client: Client, { mac }: SimulatedServer, signal: AbortSignal): Promise<void> => {
  let said = '';
  while (!signal.aborted) {
    const report = mac && (await reportOf(mac));
    const now = `${report?.summary} ${Math.floor(systemClock.now() / heartbeatMs)}`;
    if (report && now !== said) {
      await writeReport(client, report);
      said = now;
    }
    await sleep(systemClock, lookMs, signal);
  }
};

interface Report {
  readonly name: string;
  readonly providerID: string;
  readonly summary: string;
}

/** The report of this Mac's agent, if launchd runs one. */
const reportOf = async (mac: Mac): Promise<Report | undefined> => {
  const job = mac.job(macNames.agentJob);
  if (job?.state !== 'running') return undefined;
  const flag = (name: string): string =>
    job.arguments.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3) ?? '';
  const folder = mac.path('/var/db/tartan/steps');
  // A stamp that is being written has a dot before its name.
  const steps = (await readdir(folder).catch(() => [])).filter((step) => !step.startsWith('.'));
  const stamps = await Promise.all(
    steps.map(async (step) => [step, (await readFile(join(folder, step), 'utf8').catch(() => '')).trimEnd()] as const),
  );
  return {
    name: flag('node-name'),
    providerID: flag('provider-id'),
    summary: summaryOf(Object.fromEntries(stamps)),
  };
};

const writeReport = async (client: Client, { name, providerID, summary }: Report): Promise<void> => {
  const noted = { [annotations.hostConfigHash]: summary };
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, annotations: noted },
    spec: { providerID },
  } as const;
  await client.create(nodes, node).catch((error: unknown) => {
    if (!isKubeError(error, 'alreadyExists')) throw error;
  });
  const time = timestamp(systemClock.now());
  const ready = { type: 'Ready', status: 'True', reason: 'StandIn', lastHeartbeatTime: time, lastTransitionTime: time };
  const status = { type: 'strategic', body: { status: { conditions: [ready] } } } as const;
  await client.patch(nodes, { name }, status, { subresource: 'status' });
  await client.patch(nodes, { name }, { type: 'merge', body: { metadata: { annotations: noted } } });
};
