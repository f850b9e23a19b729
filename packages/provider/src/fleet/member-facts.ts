import { annotations } from '@tartan/api';
import { fieldsChanged, keyOf, type Source } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { ClusterGetter, Informers, Machine, Node } from '../controller-deps.ts';
import { clusterNameOf } from '../pause/pauses.ts';
import type { Limits, MachineFacts } from './judge-turn.ts';
import { type TemplateFacts, templateFacts } from './machine-deployments.ts';
import { machineFacts } from './observe.ts';
import { fleetNameOf } from './turns.ts';

/** The machines of a fleet, in any order. */
export interface Members {
  readonly facts: readonly MachineFacts[];
  /** In the same order. */
  readonly templates: readonly TemplateFacts[];
}

interface MemberFactsDeps extends Pick<Informers, 'machines' | 'nodes'> {
  readonly clusters: ClusterGetter;
  readonly clock: Clock;
  readonly limits: Limits;
}

interface Fleet extends Members {
  readonly facts: MachineFacts[];
  readonly templates: TemplateFacts[];
  /** The key of the machine at each place, and the reverse. */
  readonly keys: string[];
  readonly places: Map<string, number>;
  /** Keys of machines whose facts have to be computed again. */
  readonly outdated: Set<string>;
  /** Whether the Clusters of the machines are paused, as it was last read, by key of the Cluster. */
  readonly clusters: Map<string, boolean | undefined>;
}

/**
 * The members of fleets. Facts are computed again only for machines that have changed, or whose Node or Cluster has: a pass over a large
 * fleet follows each of its changes. With a step left out, facts depend on the time too, and are computed each time.
 */
export const createMemberFacts = ({ machines, nodes, clusters, clock, limits }: MemberFactsDeps) => {
  const fleets = new Map<string, Fleet>();
  const keyOfFleet = (machine: Machine): string =>
    keyOf({ namespace: machine.metadata.namespace ?? '', name: fleetNameOf(machine) });
  const markOutdated = (machine: Machine): unknown =>
    fleets.get(keyOfFleet(machine))?.outdated.add(keyOf(machine.metadata));
  const factsOf = (machine: Machine): MachineFacts =>
    machineFacts(machine, nodes.get(machine.metadata.name), { now: clock.now(), clusters, ...limits });
  const update = (fleetKey: string, fleet: Fleet): void => {
    const { outdated } = fleet;
    for (const [key, wasPaused] of fleet.clusters) {
      if (clusters.get(key)?.spec?.paused === wasPaused) continue;
      fleet.clusters.delete(key);
      for (const each of machines.byIndex('fleet', fleetKey)) outdated.add(keyOf(each.metadata));
    }
    const due = [...outdated];
    outdated.clear();
    for (const key of due) {
      const machine = machines.get(key);
      if (machine === undefined || keyOfFleet(machine) !== fleetKey) {
        remove(fleet, key);
        continue;
      }
      put(fleet, key, factsOf(machine), templateFacts(machine));
      const clusterName = clusterNameOf(machine);
      if (clusterName) fleet.clusters.set(keyOf(clusterName), clusters.get(keyOf(clusterName))?.spec?.paused);
      if (machine.status?.leftOut !== undefined) outdated.add(key);
    }
  };
  const follow: Source = () => {
    fleets.clear();
    const ends = [
      machines.subscribe((change) => {
        if (change.type !== 'added') markOutdated(change.previous);
        if (change.type !== 'removed') markOutdated(change.object);
      }),
      nodes.subscribe((change) => {
        if (!nodeChanged(change)) return;
        const { metadata } = change.type === 'removed' ? change.previous : change.object;
        for (const machine of machines.byIndex('name', metadata.name)) markOutdated(machine);
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  };
  return {
    /** Keeps the facts current. A source that enqueues nothing. */
    follow,
    /** Valid until the next call: the arrays are kept, since copies of a large fleet for each change would cost more than the rest. */
    membersOf: (fleetKey: string): Members => {
      const fleet = fleets.get(fleetKey) ?? newFleet(machines.byIndex('fleet', fleetKey));
      update(fleetKey, fleet);
      if (fleet.keys.length > 0) fleets.set(fleetKey, fleet);
      else fleets.delete(fleetKey);
      return fleet;
    },
    /** Of a machine that was read from the server. */
    factsOf,
  };
};

const newFleet = (machines: readonly Machine[]): Fleet => ({
  facts: [],
  templates: [],
  keys: [],
  places: new Map(),
  outdated: new Set(machines.map(({ metadata }) => keyOf(metadata))),
  clusters: new Map(),
});

const put = (
  { facts, templates, keys, places }: Fleet,
  key: string,
  fact: MachineFacts,
  template: TemplateFacts,
): void => {
  const place = places.get(key) ?? keys.length;
  facts[place] = fact;
  templates[place] = template;
  keys[place] = key;
  places.set(key, place);
};

/** The last machine gets its place. */
const remove = (fleet: Fleet, key: string): void => {
  const { facts, templates, keys, places } = fleet;
  const place = places.get(key);
  if (place === undefined) return;
  const [lastKey, lastFacts, lastTemplate] = [keys.pop(), facts.pop(), templates.pop()];
  places.delete(key);
  if (lastKey === undefined || lastFacts === undefined || lastTemplate === undefined || lastKey === key) return;
  places.set(lastKey, place);
  put(fleet, lastKey, lastFacts, lastTemplate);
};

export type MemberFacts = ReturnType<typeof createMemberFacts>;

/** What `machineFacts` reads of a Node. Ignores heartbeats. */
const nodeChanged = fieldsChanged<Node>(({ metadata, spec, status }) => {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return [
    metadata.annotations?.[annotations.hostConfigHash],
    spec?.providerID,
    spec?.unschedulable,
    ready?.status,
    ready?.lastTransitionTime,
  ];
});
