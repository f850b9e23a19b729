import { leaderElectionID, machine } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import {
  type Client,
  createClient,
  customResourceDefinitions,
  inProcessTransport,
  isKubeError,
  leases,
  namespaces,
} from '@tartan/kube';
import { numbersFrom, orderedIDs, type VirtualTime, virtualTime } from '@tartan/kube/testing';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { createScaleway, type EmbeddedScaleway, type SimulatedServer } from '@tartan/sim-scaleway';
import { clusterMember } from '../../../packages/provider/src/core/testing/cluster-member.ts';
import { providerRights } from '../../../packages/provider/src/manager/rights.ts';
import { authorizeWith } from '../../../packages/provider/src/manager/testing/authorize-with.ts';
import { namespace, optionsWith } from '../../../packages/provider/src/manager/testing/harness.ts';
import { memoryStorage } from '../../../sim/kubernetes/src/storage/memory.ts';
import type { Change } from '../../../sim/kubernetes/src/storage/storage.ts';
import { type ClusterState, clusterStateOf } from '../cluster-state.ts';
import { createProviderWith, project } from '../create-provider.ts';
import { addressOf } from '../effects.ts';
import { createFaultyConnections, type FaultyConnections } from '../fault-injection.ts';
import { createFaultWatch } from '../faults.ts';
import { createMacs, type Macs } from '../macs.ts';

const zone = 'fr-par-1';
const start = Date.parse('2026-01-01T00:00:00Z');

/** A reinstall takes two minutes. */
const pace = 0.2;

/**
 * The longest latency of a request, also of one that its sender has aborted. Together with `maxCallAgeMs`, within which it must be sent,
 * that is less than `settleMs`.
 */
const longestOnTheWayMs = 8000;

/** Managers that freeze for longer than a lease are another scenario: Scaleway has no fencing. */
const usuallyOnTheWayMs = 600;

interface Cluster {
  /** Prefix of its machines' names. */
  readonly word: string;
  readonly admin: Client;
  readonly facts: ClusterState;
  addMachine(): Promise<string>;
  deleteMachine(name: string): Promise<void>;
  /** Kills the manager and starts another one. */
  replaceManager(): Promise<void>;
}

/** Two clusters that share one Scaleway project, on virtual time. */
export interface TwoClusters {
  readonly time: VirtualTime;
  readonly scaleway: EmbeddedScaleway;
  readonly clusters: readonly [Cluster, Cluster];
  readonly macs: Macs;
  /** What a cluster did to a Mac that the other one holds. */
  readonly violations: readonly string[];
  /** Events at Scaleway, in order. */
  readonly history: readonly string[];
  order(name: string): Promise<void>;
  stop(): void;
}

/** A cluster with Tartan's kinds and core's, created once. */
const emptyCluster = (() => {
  let made: Promise<readonly Change[]> | undefined;
  return (): Promise<readonly Change[]> => {
    made ??= makeEmptyCluster();
    return made;
  };
})();

const makeEmptyCluster = async (): Promise<readonly Change[]> => {
  const time = virtualTime(start);
  const storage = memoryStorage();
  const kubernetes = await createKubernetes({ clock: time, storage, controllers: false });
  const transport = inProcessTransport(kubernetes.handle, {
    user: { commonName: 'admin', organizations: ['system:masters'] },
  });
  const admin = createClient(transport, { clock: time });
  for (const name of [namespace, 'default', 'kube-system', 'kube-node-lease'])
    await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  for (const definition of [...definitions, ...coreDefinitions()])
    await admin.create(customResourceDefinitions, definition);
  kubernetes.stop();
  return storage.changes('', 0);
};

/** The servers that a cluster holds: of a provisioned machine, or with a settled claim. */
export const holdingsOf = ({ hosts, machines }: ClusterState): ReadonlyMap<string, string> => {
  const ready = new Set(
    machines()
      .filter(({ status }) => status?.initialization?.provisioned === true)
      .map(({ metadata }) => metadata.uid),
  );
  return new Map(
    hosts().flatMap(({ metadata, spec: { consumerRef }, status }) => {
      if (consumerRef === undefined) return [];
      const isSettled = status?.claim?.uid === consumerRef.uid && status.claim.settledAt !== undefined;
      return isSettled || ready.has(consumerRef.uid) ? [[metadata.name, consumerRef.name]] : [];
    }),
  );
};

export const createTwoClusters = async (seed: number): Promise<TwoClusters> => {
  const time = virtualTime(start);
  const random = numbersFrom(seed);
  const scaleway = createScaleway({ clock: time, pace, ...project, newID: orderedIDs(9) });
  const violations: string[] = [];
  const history: string[] = [];
  const alias = (text: string): string => text.replaceAll(/00000009-0000-4000-8000-0*(\d+)/g, 'host-$1');
  const note = (what: string): void => {
    history.push(`${((time.now() - start) / 1000).toFixed(1)} s: ${alias(what)}`);
  };
  const serverOf = (id: string): SimulatedServer | undefined => scaleway.servers().find((server) => server.id === id);
  const macs = createMacs({
    agents: { start: () => {}, report: () => {}, stopReporting: () => {} },
    alias,
    isUp: ({ id }) => serverOf(id)?.status === 'ready',
    observer: {
      pushing: ({ id }, { owner }) => {
        note(`${owner} is on ${id}`);
        const name = serverOf(id)?.name ?? '';
        const word = /machine [^/]*\/(\w+)-/.exec(owner)?.[1] ?? '';
        const other = clusters.find((cluster) => cluster.word !== word);
        const holder = other && holdingsOf(other.facts).get(id);
        // Reading a Mac that the other cluster provisioned changes nothing. Work on a clean one is about to change it.
        const isClean = Object.keys(macs.get(id).stamps).length === 0;
        if (isClean && holder !== undefined) blame(`${owner} works on ${id} (${name}), which ${holder} holds`);
        return () => {};
      },
      agentStarts: () => {},
    },
    saved: [],
  });
  const blame = (what: string): void => {
    violations.push(`${((time.now() - start) / 1000).toFixed(1)} s: ${alias(what)}`);
  };

  /** Called when a request that changes a server arrives. */
  const arrive = (word: string, method: string, url: string, body: string): void => {
    const [, id = '', what = 'rename'] = /servers\/([^/]+?)(?:\/(reinstall|reboot))?$/.exec(url) ?? [];
    if (id === '') return;
    const server = serverOf(id);
    const own = clusters.find((cluster) => cluster.word === word);
    const other = clusters.find((cluster) => cluster.word !== word);
    const to = what === 'rename' ? ` to ${(JSON.parse(body) as { name: string }).name}` : '';
    note(`${word} sends ${method} ${what}${to} of ${id} (${server?.name})`);
    const holder = other && holdingsOf(other.facts).get(id);
    if (holder === undefined) return;
    const repairs = what === 'rename' && own !== undefined && holdingsOf(own.facts).has(id);
    if (!repairs) blame(`${word} sends ${what}${to} of ${id} (${server?.name}), which ${holder} holds`);
  };

  const onTheWay = (): number => (random() < 0.15 ? random() * longestOnTheWayMs : random() * usuallyOnTheWayMs);
  const passing = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => void time.after(milliseconds, resolve));

  /** Requests to Scaleway take time in both directions; a sent request arrives even if its sender aborts. */
  const askScaleway =
    (word: string): typeof fetch =>
    async (input, init) => {
      const method = init?.method ?? 'GET';
      const aborted = new Promise<never>((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
      });
      aborted.catch(() => {});
      const asked = (async () => {
        await passing(onTheWay());
        if (method !== 'GET') arrive(word, method, addressOf(input), typeof init?.body === 'string' ? init.body : '');
        const { signal: _, ...rest } = init ?? {};
        const answer = await time.during(() => scaleway.fetch(input, rest));
        const [, id = '', what] = /servers\/([^/]+)\/(reinstall)$/.exec(addressOf(input)) ?? [];
        if (answer.ok && what !== undefined) macs.wiped(id);
        await passing(onTheWay());
        return answer;
      })();
      return Promise.race([asked, aborted]);
    };

  const over = new AbortController();
  const managers: FaultyConnections[] = [];
  const stops: (() => void)[] = [];

  const createCluster = async (word: string): Promise<Cluster> => {
    const storage = memoryStorage();
    for (const { key, object } of await emptyCluster()) {
      if (object) storage.put(key, object);
      else storage.remove(key);
    }
    const { authorize } = authorizeWith(providerRights(optionsWith()));
    const kubernetes = await createKubernetes({
      clock: time,
      storage,
      controllers: false,
      authorize,
      random: numbersFrom(seed + 7),
      uuid: orderedIDs(word.charCodeAt(0)),
    });
    stops.push(() => kubernetes.stop());
    const as = (commonName: string) =>
      inProcessTransport(kubernetes.handle, { user: { commonName, organizations: [] } });
    const admin = createClient(as('admin'), { clock: time });
    const facts = clusterStateOf(kubernetes, storage);
    const provider = as('provider');
    let current: FaultyConnections | undefined;
    let made = 0;
    const startManager = (): void => {
      const connections = createFaultyConnections({
        identity: `${word}-${managers.length + 1}`,
        // A request to Scaleway waits for virtual time, so it must not stop the clock.
        time: { ...time, during: (work) => work() },
        transport: { ...provider, send: (request) => time.during(() => provider.send(request)) },
        fetch: askScaleway(word),
        alias,
        watch: createFaultWatch(undefined),
        observer: { scalewayCalled: () => {}, kubernetesAsked: () => {}, happened: () => {} },
      });
      current = connections;
      managers.push(connections);
      const own = numbersFrom(seed * 31 + managers.length);
      const manager = createProviderWith({
        connections,
        hostWork: macs.workOf(connections),
        random: own,
        write: () => {},
        version: 'one',
        flags: ['--bootstrap-reboot-after=0'],
      });
      void manager.run(over.signal);
    };
    startManager();
    const unlessGone = (error: unknown): void => {
      if (!isKubeError(error, 'notFound')) throw error;
    };
    return {
      word,
      admin,
      facts,
      addMachine: async () => {
        made += 1;
        const name = `${word}-${made}`;
        // The fleets have the same name in both clusters, but different SSH keys.
        const at = { name, namespace };
        const metadata = { ...at, ...(await clusterMember(admin, at)) };
        const object = machine.make({ metadata, spec: { fleetName: 'runners' } });
        await admin.create(machine.resource, object);
        note(`${name} is made`);
        return name;
      },
      deleteMachine: async (name) => {
        note(`${name} is deleted`);
        await admin.delete(machine.resource, { name, namespace }).then(() => {}, unlessGone);
      },
      replaceManager: async () => {
        note(`the manager of ${word} dies`);
        current?.kill();
        await admin.delete(leases, { namespace, name: leaderElectionID }).then(() => {}, unlessGone);
        startManager();
      },
    };
  };
  const clusters = [await createCluster('a'), await createCluster('b')] as const;

  return {
    time,
    scaleway,
    clusters,
    macs,
    violations,
    history,
    order: async (name) => {
      const { id } = await scaleway.order({ zone, name });
      macs.add(id, scaleway.save().servers.find((server) => server.id === id)?.ip ?? '');
    },
    stop: () => {
      over.abort();
      for (const connections of managers) connections.dispose();
      for (const stop of stops) stop();
      void scaleway.stop();
    },
  };
};
