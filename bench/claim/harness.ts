import { machine, macHost, serverNames } from '@tartan/api';
import { createLogger, createRedactor } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { createProvider, parseFlags, type ProviderDeps } from '@tartan/provider';
import { createHostPool } from '@tartan/scaleway';
import {
  createInstaller,
  fleetNamespace as namespace,
  installProvider,
  providerFlags,
  startEmbedded,
  untilHostsFound,
} from '@tartan/sim-fleet';
import { startScaleway } from '@tartan/sim-scaleway';
import { clusterMember } from '../../packages/provider/src/core/testing/cluster-member.ts';
import { settings } from '../../packages/provider/src/manager/testing/harness.ts';
import { watchObjects } from '../object-watch.ts';

/** The cost of one claim, from the machine's creation to its `spec.providerID`. */
export interface Claim {
  readonly milliseconds: number;
  /** Requests to Scaleway until work on the Mac began, without lists of the zone. */
  readonly calls: readonly string[];
  /** Requests for pages of the zone, which depend on the clock and not on the claim. */
  readonly pages: number;
}

export interface ClaimHarness {
  claim(name: string): Promise<Claim>;
  /** Deletes the machine, and waits until its Mac is back in the pool. */
  giveBack(name: string): Promise<void>;
  stop(): Promise<void>;
}

const zone = 'fr-par-1';
const credentials = {
  accessKey: 'SCWTARTANSIMULATED00',
  secretKey: '5e8d2c1b-7f60-4c39-9b1a-2f4e6d8c0a13',
  projectID: '9a1f7c52-0d7e-4a2b-8f43-3c2d1b0a9e87',
} as const;
/** A reinstall takes 10 min at pace 1: 0.3 s here, which is not measured. */
const pace = 0.0005;
const patienceMs = 120_000;
const isPage = (request: string): boolean => /^GET \/apple-silicon\/v1alpha1\/zones\/[^/]+\/servers\?/.test(request);

/** A provider in this process, with so many Macs in its pool at a Scaleway over HTTP. The Macs are only records: none can be reached. */
export const startClaimHarness = async (folder: string, hosts: number): Promise<ClaimHarness> => {
  const stops: (() => unknown)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).toReversed()) await each();
  };
  try {
    const scaleway = await startScaleway({ ...credentials, pace });
    stops.push(scaleway.stop);
    const order = (_: unknown, index: number) =>
      scaleway.order({ zone, name: `${serverNames.defaultPoolPrefix}${index.toString(16).padStart(8, '0')}` });
    // One more for the machine that stays.
    await Promise.all(Array.from({ length: hosts + 1 }, order));
    const controlPlane = await startEmbedded({ folder });
    stops.push(controlPlane.stop);
    await installProvider(controlPlane, createInstaller(controlPlane.client), providerFlags);
    const { client, transport } = controlPlane;

    const meets = new Map<string, () => void>();
    const hostWork: ProviderDeps['hostWork'] = {
      perform: async ({ task }) => {
        if (task.kind === 'converge') meets.get(task.spec.nodeName)?.();
        return { kind: 'unreachable', message: 'there is no Mac behind this name' };
      },
    };
    const parsed = parseFlags([...providerFlags, '--log-level=warn'], {});
    if (!('options' in parsed)) throw new Error(JSON.stringify(parsed));
    const log = createLogger({ level: 'warn', write: (line) => process.stderr.write(line), clock: systemClock });
    const provider = createProvider({
      options: parsed.options,
      transport,
      apiHost: new URL(controlPlane.url).host,
      ca: controlPlane.ca,
      // The rate limit that protects Scaleway is not measured.
      pool: createHostPool({ ...credentials, apiURL: scaleway.url, rate: 10_000 }),
      settings,
      hostWork,
      clock: systemClock,
      random: Math.random,
      log,
      redactor: createRedactor(),
      identity: 'bench',
      intervals: { hosts: { pollMs: 50 } },
    });
    const over = new AbortController();
    const ended = provider.run(over.signal);
    stops.push(() => (over.abort(), ended));

    if (!(await untilHostsFound(client, hosts + 1, AbortSignal.timeout(patienceMs))))
      throw new Error('not all Macs were found');
    const machines = await watchObjects(machine.resource, { client, namespace });
    stops.push(machines.stop);
    const macHosts = await watchObjects(macHost.resource, { client });
    stops.push(macHosts.stop);

    return {
      claim: async (name) => {
        const at = { namespace, name };
        const metadata = { ...at, ...(await clusterMember(client, at)) };
        const before = scaleway.requests.length;
        const met = new Promise<void>((resolve) => meets.set(name, resolve));
        const claimed = machines.until(name, 'is claimed', ({ spec }) => spec.providerID !== undefined);
        const began = performance.now();
        await client.create(machine.resource, machine.make({ metadata, spec: { fleetName: 'bench' } }));
        await claimed;
        const milliseconds = performance.now() - began;
        await met;
        const requests = scaleway.requests.slice(before);
        if (scaleway.servers().filter((server) => server.name === name).length !== 1)
          throw new Error(`not one server is called ${name}`);
        return {
          milliseconds,
          calls: requests.filter((request) => !isPage(request)),
          pages: requests.filter(isPage).length,
        };
      },
      giveBack: async (name) => {
        const { status: { serverID = '' } = {} } = await client.get(machine.resource, { namespace, name });
        await client.delete(machine.resource, { namespace, name });
        await macHosts.until(
          serverID,
          'is back in the pool',
          ({ spec, status }) => status?.state === 'pool' && spec.consumerRef === undefined,
        );
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
