import { labels, machine, macHost } from '@tartan/api';
import { type KubeObject, nodes, type Resource } from '@tartan/kube';
import { systemClock, timestamp } from '@tartan/kube/clock';
import { coreKinds } from '@tartan/sim-fleet';
import type { Mac } from '@tartan/sim-mac';
import type { Harness } from '../kubernetes/acceptance/installed/harness.ts';
import { type ChangeRecorder, recordChanges } from '../kubernetes/acceptance/installed/record-changes.ts';

const agentLabel = 'dev.tuist.tart-kubelet';

export interface Invariants {
  /** Everything so far that must not happen while a release changes, a sentence each. */
  violations(): readonly string[];
  /** How often the agent of each Mac has started since the last call. */
  agentStarts(): readonly number[];
  stop(): Promise<void>;
}

/** Watches every change of Machines, Macs and Nodes, and every request to Scaleway, from now on. */
export const watchInvariants = async (harness: Harness): Promise<Invariants> => {
  const { scaleway } = harness.macs;
  const seen: string[] = [];
  const report = (what: string): void => {
    seen.push(`${timestamp(systemClock.now())} ${what}`);
  };

  const watchForReplacements = async <T extends KubeObject>(resource: Resource<T>): Promise<ChangeRecorder<T>> => {
    const { items } = await harness.client.list(resource);
    const known = new Set(items.map(({ metadata }) => metadata.uid));
    return await recordChanges(harness, resource, ({ type, object: { metadata } }) => {
      const name = `${resource.kind} ${metadata.name}`;
      if (!known.has(metadata.uid)) report(`${name}: it is a new one`);
      else if (type === 'DELETED') report(`${name}: it is gone`);
      else if (metadata.deletionTimestamp !== undefined) report(`${name}: it is being deleted`);
    });
  };
  const wasReady = new Map<string, boolean>();
  const followed = [
    await watchForReplacements(coreKinds.machines),
    await watchForReplacements(machine.resource),
    await watchForReplacements(macHost.resource),
    await watchForReplacements(nodes),
    await recordChanges(harness, nodes, ({ object: { metadata, status } }) => {
      if (metadata.labels?.[labels.fleet] === undefined) return;
      const ready = (status?.conditions ?? []).find(({ type }) => type === 'Ready');
      const isReady = ready?.status === 'True';
      if (isReady === (wasReady.get(metadata.name) ?? true)) return;
      wasReady.set(metadata.name, isReady);
      report(`Node ${metadata.name}: Ready is ${ready?.status} (${ready?.reason}: ${ready?.message})`);
    }),
  ];

  const before = scaleway.servers().map(({ id, name, installs, mac }) => ({ id, name, installs, boots: boots(mac) }));
  const firstRequest = scaleway.requests.length;
  const ofScaleway = (): readonly string[] => [
    ...before.flatMap((then) => {
      const now = scaleway.servers().find(({ id }) => id === then.id);
      return [
        ...(now?.name === then.name ? [] : [`server ${then.name}: it is called ${now?.name}`]),
        ...(now?.installs === then.installs ? [] : [`server ${then.name}: it was wiped`]),
        ...(boots(now?.mac) === then.boots ? [] : [`server ${then.name}: it was restarted`]),
      ];
    }),
    ...scaleway.requests
      .slice(firstRequest)
      .filter((request) => !request.startsWith('GET '))
      .map((request) => `Scaleway was asked to change something: ${request}`),
  ];

  let starts = scaleway.servers().map(({ mac }) => agentStartsOf(mac));
  return {
    violations: () => [...seen, ...ofScaleway()],
    agentStarts: () => {
      const last = starts;
      starts = scaleway.servers().map(({ mac }) => agentStartsOf(mac));
      return starts.map((count, index) => count - (last[index] ?? 0));
    },
    stop: async () => {
      await Promise.all(followed.map((each) => each.stop()));
    },
  };
};

const boots = (mac: Mac | undefined): number =>
  (mac?.journal.entries ?? []).filter(({ what }) => what === 'boot').length;

const agentStartsOf = (mac: Mac | undefined): number =>
  (mac?.journal.entries ?? []).filter(
    ({ what, detail }) => what === 'launchd.spawn' && detail.startsWith(`${agentLabel} `),
  ).length;
