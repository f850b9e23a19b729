import { fieldsChanged, keyOf, type Source } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Informers, Machine } from '../controller-deps.ts';
import type { CoreCluster } from '../core/kinds.ts';
import type { Limits, MachineFacts } from './judge-turn.ts';
import { type TemplateFacts, templateFacts } from './machine-deployments.ts';
import { machineFacts } from './observe.ts';
import { fleetNameOf } from './turns.ts';

/** What a fleet reads of one of its machines. */
export type Member = MachineFacts & TemplateFacts;

interface MemberFactsDeps extends Pick<Informers, 'machines' | 'nodes'> {
  readonly clusters: Pick<Informers['clusters'], 'get' | 'subscribe'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly limits: Limits;
}

/**
 * The members of fleets. Facts are computed when a machine, its Node or the pause of its Cluster changes, and not in each pass: a pass over
 * a large fleet follows each of its changes. With a step left out, facts depend on the time too, and are computed in each pass.
 */
export const createMemberFacts = ({ machines, nodes, clusters, clock, limits }: MemberFactsDeps) => {
  /** By key of the fleet, then by key of the machine. */
  const fleets = new Map<string, Map<string, { readonly machine: Machine; readonly member: Member }>>();
  const memberOf = (machine: Machine): Member => ({
    ...machineFacts(machine, nodes.get(machine.metadata.name), { now: clock.now(), clusters, ...limits }),
    ...templateFacts(machine),
  });
  const put = (machine: Machine): void => {
    const fleetKey = fleetKeyOf(machine);
    const members = fleets.get(fleetKey) ?? new Map<string, never>();
    fleets.set(fleetKey, members.set(keyOf(machine.metadata), { machine, member: memberOf(machine) }));
  };
  const remove = (machine: Machine): void => {
    const fleetKey = fleetKeyOf(machine);
    const members = fleets.get(fleetKey);
    members?.delete(keyOf(machine.metadata));
    if (members?.size === 0) fleets.delete(fleetKey);
  };
  return {
    /** Keeps the facts current. A source that enqueues nothing. */
    follow: (() => {
      fleets.clear();
      const ends = [
        machines.subscribe((change) => {
          if (change.type !== 'added') remove(change.previous);
          if (change.type !== 'removed') put(change.object);
        }),
        // Also for heartbeats: to compute the facts of one machine costs no more than to compare Nodes.
        nodes.subscribe((change) => {
          const { metadata } = change.type === 'removed' ? change.previous : change.object;
          for (const machine of machines.byIndex('name', metadata.name)) put(machine);
        }),
        clusters.subscribe((change) => {
          if (!pauseChanged(change)) return;
          const { metadata } = change.type === 'removed' ? change.previous : change.object;
          for (const machine of machines.byIndex('cluster', keyOf(metadata))) put(machine);
        }),
      ];
      return () => {
        for (const end of ends) end();
      };
    }) satisfies Source,
    /** In any order. */
    membersOf: (fleetKey: string): readonly Member[] =>
      [...(fleets.get(fleetKey)?.values() ?? [])].map(({ machine, member }) =>
        machine.status?.leftOut === undefined ? member : memberOf(machine),
      ),
    /** Of a machine that was read from the server. */
    memberOf,
  };
};

export type MemberFacts = ReturnType<typeof createMemberFacts>;

const fleetKeyOf = (machine: Machine): string =>
  keyOf({ namespace: machine.metadata.namespace ?? '', name: fleetNameOf(machine) });

/** Core counts machines in the status of a Cluster, which changes with each of them. */
const pauseChanged = fieldsChanged<CoreCluster>(({ spec }) => spec?.paused);
