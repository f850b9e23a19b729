import { annotations, finalizers, type MacHostSpec, parseProviderID } from '@tartan/api';
import { type HostSpec, wantedStamps } from '@tartan/host';
import type { TransportRequest } from '@tartan/kube';
import type { EmbeddedScaleway, SimulatedServer } from '@tartan/sim-scaleway';
import type { HostJob } from '../../packages/provider/src/host-work/host-work.ts';
import { type ClusterState, isReady, type Machine } from './cluster-state.ts';
import type { FaultyConnections } from './fault-injection.ts';
import type { Mac } from './mac.ts';
import type { Macs } from './macs.ts';
import { createSecretLeakDetector } from './secret-leaks.ts';

export interface MonitorOptions {
  readonly facts: ClusterState;
  readonly scaleway: Pick<EmbeddedScaleway, 'servers'>;
  readonly macs: () => Macs;
  readonly now: () => number;
  readonly alias: (text: string) => string;
  readonly poolPrefix: string;
  readonly lease: string;
  /** Known to everyone with access to Scaleway. */
  readonly secretKey: string;
}

/**
 * Checks the whole harness after every effect of any process, and reports violated invariants of docs/architecture, by their numbers. 0 is
 * the fence: only the lease holder may change anything at Scaleway.
 */
export interface Monitor {
  readonly violations: readonly string[];
  scalewayCalled(identity: string, method: string, url: string, body: string): void;
  kubernetesAsked(request: TransportRequest): void;
  happened(effect: string): void;
  pushing(mac: Mac, job: HostJob, by: FaultyConnections): () => void;
  agentStarts(mac: Mac, spec: HostSpec): void;
  logged(line: string): void;
  /** For the end, when nothing changes any more and a sweep has run. */
  atTheEnd(): void;
}

export const createMonitor = (options: MonitorOptions): Monitor => {
  const { facts, scaleway, macs, alias, poolPrefix, now } = options;
  const violations: string[] = [];
  const spy = createSecretLeakDetector(options.secretKey);
  let during = 'the beginning';
  const violated = (invariant: number, what: string): void => {
    const text = alias(`invariant ${invariant}: ${what} (after "${during}")`);
    if (!violations.includes(text)) violations.push(text);
  };

  /** Held, or worked on, and not wiped since. */
  const used = new Set<string>();
  const beingWiped = new Set<string>();
  const known = new Set<string>();
  /** UIDs by server. */
  const holders = new Map<string, string | undefined>();
  const providerIDs = new Map<string, string>();
  const summaries = new Map<string, string>();
  const pushes = new Set<{ mac: Mac; by: FaultyConnections }>();

  const isProvisioned = ({ status }: Machine): boolean => status?.initialization?.provisioned === true;
  const isGoing = ({ metadata }: Machine): boolean => metadata.deletionTimestamp !== undefined;
  const isPaused = ({ metadata }: Machine): boolean => annotations.paused in (metadata.annotations ?? {});
  const holderOf = (id: string): MacHostSpec['consumerRef'] => facts.host(id)?.spec.consumerRef;

  const followWipes = (): void => {
    for (const { id, status } of scaleway.servers()) {
      if (status === 'reinstalling') beingWiped.add(id);
      else if (beingWiped.delete(id) && status === 'ready') used.delete(id);
      if (holderOf(id) !== undefined) used.add(id);
    }
  };

  const oneHolderEach = (): void => {
    const machines = facts.machines();
    const byHolder = Map.groupBy(
      facts.hosts().filter(({ spec }) => spec.consumerRef),
      ({ spec }) => spec.consumerRef?.uid,
    );
    for (const { metadata, spec } of facts.hosts()) {
      const before = holders.get(metadata.name);
      const after = spec.consumerRef?.uid;
      if (before !== undefined && after !== undefined && before !== after)
        violated(1, `${metadata.name} was taken from its holder by ${spec.consumerRef?.name}`);
      holders.set(metadata.name, after);
    }
    for (const hosts of byHolder.values())
      if (hosts.length > 1)
        violated(
          1,
          `${hosts[0]?.spec.consumerRef?.name} holds ${hosts.map((host) => host.metadata.name).join(' and ')}`,
        );
    const bound = new Map<string, string>();
    for (const { metadata, spec, status } of machines) {
      const { name, uid } = metadata;
      const [held] = byHolder.get(uid) ?? [];
      if (held && status?.serverID && status.serverID !== held.metadata.name)
        violated(1, `${name} has reserved ${status.serverID} and holds ${held.metadata.name}`);
      if (!spec.providerID) continue;
      const other = bound.get(spec.providerID);
      if (other !== undefined) violated(1, `${name} and ${other} both have ${spec.providerID}`);
      bound.set(spec.providerID, name);
    }
    for (const { metadata } of machines) {
      const bearers = scaleway
        .servers()
        .filter(({ id, name }) => name === metadata.name && !facts.host(id)?.spec.release);
      if (bearers.length > 1)
        violated(1, `${bearers.map(({ id }) => id).join(' and ')} both bear the name ${metadata.name}`);
    }
  };

  const everyServerIsKnown = (): void => {
    const there = new Set(facts.hosts().map(({ metadata }) => metadata.name));
    for (const { id } of scaleway.servers()) {
      if (there.has(id)) known.add(id);
      else if (known.has(id)) violated(3, `the MacHost of ${id} is gone`);
    }
  };

  const onlyWipedInPool = (): void => {
    for (const { metadata, spec, status } of facts.hosts())
      if (status?.state === 'pool' && !spec.consumerRef && used.has(metadata.name))
        violated(4, `${metadata.name} is in the pool and was not wiped`);
  };

  const machinesKeepTheirWord = (): void => {
    for (const machine of facts.machines()) {
      const { metadata, spec, status } = machine;
      const { uid, name } = metadata;
      const before = providerIDs.get(uid);
      const after = spec.providerID || undefined;
      if (before !== undefined && after !== undefined && before !== after)
        violated(7, `${name}: ${before} became ${after}`);
      if (before !== undefined && after === undefined && isProvisioned(machine))
        violated(7, `${name} has lost ${before}`);
      if (after !== undefined) providerIDs.set(uid, after);
      else providerIDs.delete(uid);

      const summary = status?.hostConfigHash;
      const id = status?.serverID;
      if (summary !== undefined && summary !== summaries.get(uid) && id && holderOf(id)?.uid === uid) {
        const { reportedHashes } = macs().get(id);
        if (!reportedHashes.includes(summary))
          violated(8, `${name} is said to have ${summary}, which its Mac never had as a whole`);
      }
      if (summary === undefined) summaries.delete(uid);
      else summaries.set(uid, summary);
    }
  };

  /** In one fleet, working machines are not taken down faster than the budget allows. */
  const budgetIsKept = (): void => {
    for (const fleet of facts.fleets()) {
      const down = facts.machines().filter((machine) => {
        const { spec, status } = machine;
        if (spec.fleetName !== fleet.metadata.name || !isProvisioned(machine) || isGoing(machine)) return false;
        // A machine without a Node is down anyway, so a new registration costs nothing.
        const node = facts.node(machine.metadata.name);
        const isPushed = [...pushes].some(({ mac, by }) => by.state === 'alive' && mac.id === status?.serverID);
        return node !== undefined && (isPushed || !isReady(node));
      });
      if (down.length > fleet.spec.maxUnavailable)
        violated(9, `${down.map(({ metadata }) => metadata.name).join(' and ')} are down at once`);
    }
  };

  /** UIDs of machines that were paused and did not have Tartan's finalizer. */
  const untouched = new Set<string>();
  const pausesAreKept = (): void => {
    for (const machine of facts.machines()) {
      const { uid, name } = machine.metadata;
      const held = machine.metadata.finalizers?.includes(finalizers.machine) === true;
      if (!isPaused(machine)) untouched.delete(uid);
      else if (!held) untouched.add(uid);
      else if (untouched.has(uid)) violated(15, `${name} got a finalizer while it was paused`);
    }
  };

  /** The paused machine that holds this Mac, or has released it. */
  const pausedOwnerOf = (id: string): Machine | undefined => {
    const { consumerRef, release } = facts.host(id)?.spec ?? {};
    const uid = consumerRef?.uid ?? release?.machine?.uid;
    return facts.machines().find((machine) => machine.metadata.uid === uid && isPaused(machine));
  };

  const look = (): void => {
    pausesAreKept();
    followWipes();
    oneHolderEach();
    everyServerIsKnown();
    onlyWipedInPool();
    machinesKeepTheirWord();
    budgetIsKept();
  };

  const aboutToWipe = (server: SimulatedServer): void => {
    const holder = holderOf(server.id);
    if (holder !== undefined) violated(2, `${server.id} is reinstalled while ${holder.name} holds it`);
    for (const machine of facts.machines()) {
      const bound = parseProviderID(machine.spec.providerID ?? '')?.serverID;
      if (bound === server.id && isProvisioned(machine) && !isGoing(machine))
        violated(2, `${server.id} is reinstalled while ${machine.metadata.name} lives on it`);
    }
  };

  return {
    violations,
    scalewayCalled: (identity, method, url, body) => {
      during = `${identity}: ${method} ${url} ${body}`;
      const lease = facts.leases().find(({ metadata }) => metadata.name === options.lease);
      const { holderIdentity, renewTime = '', leaseDurationSeconds = 0 } = lease?.spec ?? {};
      const isFresh = now() - Date.parse(renewTime) < leaseDurationSeconds * 1000;
      if (/servers/.test(url) && (holderIdentity !== identity || !isFresh))
        violated(0, `${identity} changes a server while ${holderIdentity} holds the lease`);
      const [, id = '', what = ''] = /servers\/([^/]+)\/?(.*)$/.exec(url) ?? [];
      const server = scaleway.servers().find((each) => each.id === id);
      if (server === undefined) return;
      const paused = pausedOwnerOf(id);
      if (paused !== undefined) violated(15, `${id} is changed while ${paused.metadata.name} is paused`);
      followWipes();
      const { name = '' } = (body === '' ? {} : JSON.parse(body)) as { name?: string };
      if (name.startsWith(poolPrefix) && used.has(id)) violated(4, `${id} is called ${name} and was not wiped`);
      if (what === 'reinstall') aboutToWipe(server);
    },
    kubernetesAsked: (request) => {
      for (const secret of spy.leaksIn(request)) violated(11, `${secret} is in ${request.method} ${request.path}`);
    },
    happened: (effect) => {
      during = effect;
      look();
    },
    pushing: (mac, job, by) => {
      const { task } = job;
      const holder = holderOf(mac.id);
      if (task.kind === 'converge' && holder?.name !== task.spec.nodeName)
        violated(
          1,
          `${by.identity} works for ${task.spec.nodeName} on ${mac.id}, which ${holder?.name ?? 'nobody'} holds`,
        );
      const paused = pausedOwnerOf(mac.id);
      if (paused !== undefined)
        violated(15, `${by.identity} works on ${mac.id} while ${paused.metadata.name} is paused`);
      const push = { mac, by };
      pushes.add(push);
      budgetIsKept();
      return () => pushes.delete(push);
    },
    agentStarts: ({ id, stamps }, spec) => {
      const wanted = wantedStamps(spec);
      for (const step of ['agent-runtime', 'agent-release', 'join-credentials', 'agent-job'])
        if (stamps[step] !== wanted[step]) violated(8, `the agent of ${id} starts beside another ${step} than its own`);
    },
    logged: (line) => {
      for (const secret of spy.leaksInText(line)) violated(11, `${secret} is in the log: ${line.slice(0, 200)}`);
    },
    atTheEnd: () => {
      during = 'the end';
      look();
      for (const { id } of scaleway.servers())
        if (facts.host(id)?.status?.state === undefined) violated(3, `${id} is in no state`);
    },
  };
};
