import { machine, serverNames } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import {
  createClient,
  createInformer,
  createLogger,
  createRedactor,
  customResourceDefinitions,
  inProcessTransport,
  namespaces,
} from '@tartan/kube';
import { createProvider } from '@tartan/provider';
import { createHostPool } from '@tartan/scaleway';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { createScaleway } from '@tartan/sim-scaleway';
import { clusterMember } from '../../packages/provider/src/core/testing/cluster-member.ts';
import { namespace, optionsWith, settings } from '../../packages/provider/src/manager/testing/harness.ts';
import { playMacs } from '../played-macs.ts';
import { virtualTime } from './virtual-time.ts';

export interface DayOptions {
  readonly hosts: number;
  /** Hosts that are released at the start of the day. */
  readonly released: number;
  /** Whether Scaleway has locked those: it refuses to reinstall them. */
  readonly locked: boolean;
  readonly hours: number;
}

export interface Day {
  /** Requests to Scaleway that name a released host, for each hour. */
  readonly aboutReleased: readonly number[];
  readonly imageLists: number;
  readonly requests: number;
  /** From the creation of a machine to its `spec.providerID`, in seconds. */
  readonly claims: readonly number[];
}

const zone = 'fr-par-1';
const project = {
  projectID: '9a1f7c52-0d7e-4a2b-8f43-3c2d1b0a9e87',
  secretKey: '5e8d2c1b-7f60-4c39-9b1a-2f4e6d8c0a13',
  accessKey: 'SCWTARTANSIMULATED00',
};
const minute = 60_000;
const hour = 60 * minute;
/** A machine is created every quarter of an hour, at no full minute, and deleted after two hours. */
const claimEveryMs = 15 * minute + 7_000;
const lifetimeMs = 2 * hour;
const pushMs = 3 * minute;

const orderedIDs = (kind: number): (() => string) => {
  let made = 0;
  return () => `${String(kind).padStart(8, '0')}-0000-4000-8000-${String(++made).padStart(12, '0')}`;
};

/** The same numbers each day (mulberry32), in [0, 1). */
const randomNumbers = (): (() => number) => {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** A simulated day of a manager in this process, with the rate limit and the speed of the real Scaleway. */
export const simulateDay = async ({ hosts, released, locked, hours }: DayOptions): Promise<Day> => {
  const time = virtualTime(Date.parse('2026-01-01T00:00:00Z'));
  const kubernetes = await createKubernetes({ clock: time, controllers: false });
  const stops: (() => unknown)[] = [() => kubernetes.stop()];
  const connection = inProcessTransport(kubernetes.handle, {
    user: { commonName: 'admin', organizations: ['system:masters'] },
  });
  const transport: typeof connection = {
    ...connection,
    send: (request) => time.during(() => connection.send(request)),
  };
  const client = createClient(transport, { clock: time });
  try {
    for (const name of [namespace, 'kube-system', 'kube-public', 'kube-node-lease'])
      await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    for (const definition of [...definitions, ...coreDefinitions()])
      await client.create(customResourceDefinitions, definition);
    const scaleway = createScaleway({ clock: time, pace: 1, ...project, newID: orderedIDs(9) });
    stops.push(() => scaleway.stop());
    for (let index = 0; index < hosts; index += 1) {
      const suffix = index.toString(16).padStart(8, '0');
      await scaleway.order({ zone, name: `${serverNames.defaultPoolPrefix}${suffix}` });
    }
    const random = randomNumbers();
    const redactor = createRedactor();
    const log = createLogger({
      level: 'error',
      write: (line) => process.stderr.write(line),
      clock: time,
      redact: redactor,
    });
    const ask: typeof fetch = (input, init) => time.during(() => scaleway.fetch(input, init));
    const provider = createProvider({
      options: optionsWith(
        '--metrics-bind-address=0',
        '--health-probe-bind-address=0',
        '--leader-elect=false',
        `--default-adopt-pool-prefix=${serverNames.defaultPoolPrefix}`,
      ),
      transport,
      apiHost: 'in-process',
      ca: 'PEM',
      pool: createHostPool({ ...project, apiURL: 'http://127.0.0.1:1', fetch: ask, clock: time, random }),
      settings,
      hostWork: playMacs({ client, clock: time, pushMs }),
      clock: time,
      random,
      log,
      redactor,
      identity: 'bench',
    });
    const over = new AbortController();
    const ended = provider.run(over.signal);
    const claimedAt = new Map<string, number>();
    const createdAt = new Map<string, number>();
    const machines = createInformer({ client, resource: machine.resource, clock: time, random, log });
    machines.subscribe((change) => {
      if (change.type === 'removed' || change.object.spec.providerID === undefined) return;
      const { name } = change.object.metadata;
      if (!claimedAt.has(name)) claimedAt.set(name, time.now());
    });
    const watching = machines.run(over.signal);
    stops.push(async () => {
      over.abort();
      await time.pass(minute);
      await Promise.all([ended, watching]);
    });

    const create = async (name: string): Promise<void> => {
      const at = { namespace, name };
      const metadata = { ...at, ...(await clusterMember(client, at)) };
      createdAt.set(name, time.now());
      await client.create(machine.resource, machine.make({ metadata, spec: { fleetName: 'bench' } }));
    };
    const remove = (name: string): Promise<unknown> => client.delete(machine.resource, { namespace, name });

    // The machines whose hosts are released.
    const first = Array.from({ length: released }, (_, index) => `first-${index}`);
    await time.pass(2 * minute);
    for (const name of first) await create(name);
    await time.pass(hour);
    const ids = scaleway.servers().filter(({ name }) => first.includes(name));
    if (ids.length !== released) throw new Error(`${ids.length} of ${released} machines have a host after an hour`);
    if (locked) for (const server of ids) server.status = 'locked';
    const about = new RegExp(`/servers/(${ids.map(({ id }) => id).join('|')})`);

    const aboutReleased: number[] = [];
    const before = scaleway.requests.length;
    for (const name of first) await remove(name);
    const begin = time.now();
    const due: { at: number; run: () => Promise<unknown> }[] = [];
    for (let at = claimEveryMs; at < hours * hour; at += claimEveryMs) {
      const name = `mac-${at / 1000}`;
      due.push({ at, run: () => create(name) }, { at: at + lifetimeMs, run: () => remove(name) });
    }
    due.sort((a, b) => a.at - b.at);
    for (let passed = 1; passed <= hours; passed += 1) {
      const from = scaleway.requests.length;
      const end = passed * hour;
      while ((due[0]?.at ?? Infinity) < end) {
        const { at, run } = due.shift() ?? { at: 0, run: async () => {} };
        await time.pass(begin + at - time.now());
        await run();
      }
      await time.pass(begin + end - time.now());
      aboutReleased.push(scaleway.requests.slice(from).filter((request) => about.test(request)).length);
    }
    const requests = scaleway.requests.slice(before);
    const isLater = (name: string): boolean => !first.includes(name);
    const claims = [...createdAt.keys()]
      .filter(isLater)
      .map((name) => ((claimedAt.get(name) ?? Infinity) - (createdAt.get(name) ?? 0)) / 1000);
    return {
      aboutReleased,
      imageLists: requests.filter((request) => /\/os\?/.test(request)).length,
      requests: requests.length,
      claims,
    };
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
};
