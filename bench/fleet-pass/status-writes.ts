import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { machine, macFleet } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import { createClient, customResourceDefinitions, inProcessTransport, isKubeError, namespaces } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { loadHostSettings, parseFlags } from '@tartan/provider';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { artifactFlags, fleetNamespace as namespace, freePort, providerFlags } from '@tartan/sim-fleet';
import { adminKubeconfig, createKubernetes, serve } from '@tartan/sim-kubernetes';
import { startMeasured } from '../measured-process.ts';
import { watchObjects } from '../object-watch.ts';
import { type Scrape, scrape } from '../scale/manager-metrics.ts';
import { cloneServers, nameOfClone, writeFleet } from '../settled-fleet/clone.ts';
import { startLightScaleway } from '../settled-fleet/scaleway.ts';
import type { FleetTemplate } from '../settled-fleet/template.ts';

export interface StatusWriteCost {
  /** CPU time of the manager, in milliseconds. */
  readonly cpu: number;
  /** Requests of the manager, without watches. */
  readonly requests: number;
}

interface StatusWriteOptions {
  readonly folder: string;
  /** The bundled manager. */
  readonly program: string;
  readonly template: FleetTemplate;
  readonly machines: number;
  readonly writes: number;
}

/** The stand-in accepts any. */
const scalewayCredentials = {
  SCW_ACCESS_KEY: 'SCWTARTANSIMULATED00',
  SCW_SECRET_KEY: '5e8d2c1b-7f60-4c39-9b1a-2f4e6d8c0a13',
  SCW_DEFAULT_PROJECT_ID: '9a1f7c52-0d7e-4a2b-8f43-3c2d1b0a9e87',
} as const;
const fleetName = 'macos';
const warmUp = 30;
const calmMs = 5_000;
/** An interval of the inventory. */
const idleMs = 60_000;
const patienceMs = 10 * 60_000;

/**
 * What one status write costs that changes what a fleet reports: a machine of a settled fleet becomes outdated,
 * then up to date again, each after the fleet has counted the other. The rollout is paused, so that nothing else happens.
 */
export const measureStatusWrites = async (options: StatusWriteOptions): Promise<StatusWriteCost> => {
  const { folder, program, template, machines, writes } = options;
  const stops: (() => unknown)[] = [];
  try {
    // Without garbage collection: the owners of the clones are not cloned.
    const kubernetes = await createKubernetes({ controllers: false });
    stops.push(kubernetes.stop);
    const server = await serve({ handle: kubernetes.handle, identity: kubernetes.identity, port: 0 });
    stops.push(server.close);
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, await adminKubeconfig(kubernetes.identity, server.url), { mode: 0o600 });
    const user = { commonName: 'admin', organizations: ['system:masters'] };
    const client = createClient(inProcessTransport(kubernetes.handle, { user }), { clock: systemClock });
    for (const name of [namespace, 'kube-system', 'kube-public', 'kube-node-lease'])
      await client
        .create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
        .catch(ignoreExisting);
    for (const definition of [...definitions, ...coreDefinitions()])
      await client.create(customResourceDefinitions, definition);
    const flags = [...providerFlags, ...(await artifactFlags(folder, { version: '0.1.0' }))];
    const parsed = parseFlags(flags, {});
    if (!('options' in parsed)) throw new Error(JSON.stringify(parsed));
    await writeFleet({ client, template, machines, settings: await loadHostSettings(parsed.options) });
    const paused = { type: 'merge', body: { spec: { paused: true } } } as const;
    await client.patch(macFleet.resource, { namespace, name: fleetName }, paused);
    const scaleway = await startLightScaleway({ servers: cloneServers(template, machines), keys: template.keys });
    stops.push(scaleway.stop);

    const port = await freePort();
    const manager = await startMeasured({
      program: process.execPath,
      argv: [
        program,
        ...flags,
        `--kubeconfig=${kubeconfig}`,
        '--leader-elect=false',
        `--metrics-bind-address=127.0.0.1:${port}`,
      ],
      env: { ...scalewayCredentials, SCW_API_URL: scaleway.url },
      log: join(folder, 'manager.log'),
    });
    stops.push(manager.kill);
    const seen = await Promise.race([untilCalm(port, machines), manager.broken]);
    const fleets = await watchObjects(macFleet.resource, { client, namespace });
    stops.push(fleets.stop);

    const write = async (index: number): Promise<void> => {
      const isOutdated = index % 2 === 0;
      const at = { namespace, name: nameOfClone(Math.floor(index / 2) % machines) };
      const { status } = await client.get(machine.resource, at);
      const desiredHostConfigHash = isOutdated ? '0'.repeat(16) : status?.hostConfigHash;
      const updated = isOutdated ? machines - 1 : machines;
      const body = { status: { desiredHostConfigHash } };
      await client.patch(machine.resource, at, { type: 'merge', body }, { subresource: 'status' });
      await fleets.until(fleetName, `counts ${updated}`, (fleet) => fleet.status?.updated === updated);
    };
    for (let index = 0; index < warmUp; index += 1) await write(index);
    const sample = async () => ({
      at: performance.now(),
      cpu: manager.cpuSeconds(),
      requests: requestsIn((await scrape(port)) ?? seen),
    });
    const idle = await sample();
    await sleep(idleMs);
    const start = await sample();
    for (let index = warmUp; index < warmUp + writes; index += 1) await write(index);
    const end = await sample();
    /** Beyond what the manager uses in such a time while nothing happens: lists of Scaleway, regular resyncs. */
    const each = (value: (of: typeof idle) => number): number => {
      const background = ((value(start) - value(idle)) / (start.at - idle.at)) * (end.at - start.at);
      return (value(end) - value(start) - background) / writes;
    };
    return { cpu: each(({ cpu }) => cpu) * 1000, requests: each(({ requests }) => requests) };
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
};

const ignoreExisting = (error: unknown): void => {
  if (!isKubeError(error, 'alreadyExists')) throw error;
};

const requestsIn = (seen: Scrape): number => seen.sum('rest_client_requests_total');

/** Every machine was passed, and no more requests are made. */
const untilCalm = async (port: number, machines: number): Promise<Scrape> => {
  const until = performance.now() + patienceMs;
  for (let before = -1; ; ) {
    await sleep(calmMs);
    const seen = await scrape(port);
    if (performance.now() > until) throw new Error('the manager did not settle');
    if (seen === undefined) continue;
    const hasPassed = seen.sum('controller_runtime_reconcile_total', { controller: 'machine' }) >= machines;
    const requests = requestsIn(seen);
    if (hasPassed && requests - before <= 1) return seen;
    before = requests;
  }
};
