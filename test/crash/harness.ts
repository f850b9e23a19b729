import { leaderElectionID } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import {
  type Client,
  createClient,
  customResourceDefinitions,
  inProcessTransport,
  leases,
  namespaces,
} from '@tartan/kube';
import { numbersFrom, orderedIDs, type VirtualTime, virtualTime } from '@tartan/kube/testing';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { createScaleway, type EmbeddedScaleway, type ScalewayState } from '@tartan/sim-scaleway';
import { providerRights } from '../../packages/provider/src/manager/rights.ts';
import { authorizeWith } from '../../packages/provider/src/manager/testing/authorize-with.ts';
import { namespace, optionsWith } from '../../packages/provider/src/manager/testing/harness.ts';
import { memoryStorage } from '../../sim/kubernetes/src/storage/memory.ts';
import type { Change } from '../../sim/kubernetes/src/storage/storage.ts';
import { createAgents } from './agents.ts';
import { type ClusterState, clusterStateOf } from './cluster-state.ts';
import { createProviderWith, project, type ProviderOverrides } from './create-provider.ts';
import { addressOf } from './effects.ts';
import { createFaultyConnections, type FaultyConnections } from './fault-injection.ts';
import { createFaultWatch, type Fault } from './faults.ts';
import type { Mac } from './mac.ts';
import { createMacs, type Macs } from './macs.ts';
import { createMonitor, type Monitor } from './monitor.ts';

export { namespace };

const zone = 'fr-par-1';
export const poolPrefix = 'tuist-pool-';

/** A reinstall takes two minutes, a reboot 18 s: managers poll every 10 s, and longer waits would only add more polls. */
const pace = 0.2;

/** The whole state at one time, while no request is in progress. */
export interface HarnessState {
  readonly at: number;
  readonly changes: readonly Change[];
  readonly scaleway: ScalewayState;
  readonly macs: readonly Mac[];
}

export interface ManagerOptions extends ProviderOverrides {
  readonly fault?: Fault | undefined;
}

/** Kubernetes, Scaleway and Macs in this process, on virtual time, and managers that may die. */
export interface Harness {
  readonly time: VirtualTime;
  readonly admin: Client;
  readonly facts: ClusterState;
  readonly scaleway: EmbeddedScaleway;
  readonly macs: Macs;
  readonly monitor: Monitor;
  /** All log lines of managers. */
  readonly lines: readonly string[];
  /** Requests of managers that RBAC refused. */
  readonly refused: readonly string[];
  /** All managers ever started, including dead ones. */
  readonly managers: readonly FaultyConnections[];
  startManager(options: ManagerOptions): FaultyConnections;
  /** The holder of the lease. */
  leader(): string | undefined;
  /** Orders a Mac for the pool. In names of effects they are host-1, host-2, … */
  order(): Promise<Mac>;
  alias(text: string): string;
  copy(): HarnessState;
  stop(): void;
}

const start = Date.parse('2026-01-01T00:00:00Z');
const certificates = new Map<string, string>();

/** A harness with Tartan's kinds and core's; created once, then copied. */
const emptyState = (() => {
  let made: Promise<HarnessState> | undefined;
  return (): Promise<HarnessState> => {
    made ??= createEmptyState();
    return made;
  };
})();

const createEmptyState = async (): Promise<HarnessState> => {
  const harness = await harnessFrom({ at: start, changes: [], scaleway: { servers: [], keys: [] }, macs: [] });
  for (const name of [namespace, 'default', 'kube-system', 'kube-node-lease'])
    await harness.admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  for (const definition of [...definitions, ...coreDefinitions()])
    await harness.admin.create(customResourceDefinitions, definition);
  const copy = harness.copy();
  harness.stop();
  return copy;
};

export const createHarness = async (from?: HarnessState): Promise<Harness> => harnessFrom(from ?? (await emptyState()));

const harnessFrom = async (from: HarnessState): Promise<Harness> => {
  const time = virtualTime(from.at);
  const storage = memoryStorage();
  for (const { key, object } of from.changes) {
    if (object) storage.put(key, object);
    else storage.remove(key);
  }
  const { authorize, refused } = authorizeWith(providerRights(optionsWith()));
  const kubernetes = await createKubernetes({
    clock: time,
    storage,
    controllers: false,
    authorize,
    random: numbersFrom(1),
    uuid: orderedIDs(from.changes.length),
  });
  const as = (user: { commonName: string; organizations: readonly string[] }) =>
    inProcessTransport(kubernetes.handle, { user });
  const clientOf = (user: Parameters<typeof as>[0]): Client => createClient(as(user), { clock: time });
  const admin = clientOf({ commonName: 'admin', organizations: [] });
  const facts = clusterStateOf(kubernetes, storage);

  const scaleway = createScaleway({
    clock: time,
    pace,
    ...project,
    newID: orderedIDs(9),
    saved: from.scaleway,
  });
  const alias = (text: string): string => text.replaceAll(/00000009-0000-4000-8000-0*(\d+)/g, 'host-$1');
  const isUp = ({ id }: Mac): boolean =>
    scaleway.servers().some((server) => server.id === id && server.status === 'ready');
  const monitor = createMonitor({
    facts,
    scaleway,
    macs: () => macs,
    now: () => time.now(),
    alias,
    poolPrefix,
    lease: leaderElectionID,
    secretKey: project.secretKey,
  });
  const agents = createAgents({
    time,
    admin,
    clientOf,
    isUp,
    sign: async (nodeName) => {
      const known = certificates.get(nodeName);
      if (known !== undefined) return known;
      const { certificate } = await kubernetes.identity.issue({
        commonName: `system:node:${nodeName}`,
        organizations: ['system:nodes'],
        usages: ['client auth', 'digital signature'],
        seconds: 7 * 86_400,
      });
      certificates.set(nodeName, certificate);
      return certificate;
    },
  });
  const macs = createMacs({ agents, alias, isUp, observer: monitor, saved: from.macs });

  const nodesPrefix = kubernetes.api.find('', 'nodes')?.prefix ?? '';
  storage.subscribe(({ key, object, previous }) => {
    if (key.startsWith(nodesPrefix) && object === undefined) macs.nodeIsGone(previous?.metadata.name ?? '');
    // At once: two writes may happen before a watch sees the first.
    if (!/(events|leases|secrets)\//.test(key)) monitor.happened(`a write of ${key}`);
  });

  /** Scaleway, with the effects on the Mac of a server. */
  const askScaleway: typeof fetch = async (input, init) => {
    const response = await scaleway.fetch(input, init);
    const [, id = '', what] = /servers\/([^/]+)\/(reinstall|reboot)$/.exec(addressOf(input)) ?? [];
    if (!response.ok || what === undefined) return response;
    if (what === 'reinstall' && !scaleway.faults.reinstallDoesNotWipe.has(id)) macs.wiped(id);
    else macs.rebooted(id);
    return response;
  };

  const over = new AbortController();
  const lines: string[] = [];
  const managers: FaultyConnections[] = [];
  const startManager = ({ fault, ...wish }: ManagerOptions): FaultyConnections => {
    const identity = `manager-${managers.length + 1}`;
    const random = numbersFrom(managers.length + 1);
    const connections = createFaultyConnections({
      identity,
      time,
      transport: as({ commonName: 'provider', organizations: [] }),
      fetch: askScaleway,
      alias,
      watch: createFaultWatch(fault),
      observer: monitor,
    });
    managers.push(connections);
    const write = (line: string): void => {
      if (connections.state === 'dead') return;
      lines.push(`${identity} ${line}`);
      monitor.logged(line);
    };
    const provider = createProviderWith({ connections, hostWork: macs.workOf(connections), random, write, ...wish });
    void provider.run(over.signal);
    return connections;
  };

  return {
    time,
    admin,
    facts,
    scaleway,
    macs,
    monitor,
    lines,
    refused,
    managers,
    startManager,
    leader: () => facts.leases().find(({ metadata }) => metadata.name === leaderElectionID)?.spec?.holderIdentity,
    alias,
    order: async () => {
      const suffix = String(macs.all.length + 1).padStart(8, '0');
      const { id } = await scaleway.order({ zone, name: `${poolPrefix}${suffix}` });
      const ip = scaleway.save().servers.find((server) => server.id === id)?.ip ?? '';
      return macs.add(id, ip);
    },
    copy: () => ({
      at: time.now(),
      changes: storage.changes('', 0),
      scaleway: scaleway.save(),
      macs: macs.save(),
    }),
    stop: () => {
      over.abort();
      for (const connections of managers) connections.dispose();
      kubernetes.stop();
      void scaleway.stop();
    },
  };
};

/** As if the leader had released it. */
export const freeLease = (admin: Client): Promise<unknown> =>
  admin.delete(leases, { namespace, name: leaderElectionID });
