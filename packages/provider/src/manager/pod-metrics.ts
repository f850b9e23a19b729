import { labels, metricNames } from '@tartan/api';
import type { Live, StateGauge } from '@tartan/kube';
import { factsOf, type Node, type Pod } from '../pods/observe.ts';

interface Pods {
  readonly pods: readonly Live<Pod>[];
  readonly nodes: readonly Live<Node>[];
  readonly now: number;
}

/** Of Pods that an agent holds. Their number alone looks the same for many that end as for one that never does (I-71). */
export const measurePods = (gauge: StateGauge<Pods>): void => {
  gauge(
    metricNames.podsTerminating,
    'Pods whose virtual machine should be gone by now, and whose agent still holds them. No series where there is none.',
    ['node', 'fleet'],
    (count) => (state) => {
      for (const { place, overdue } of overdueByNode(state)) count.set(place, overdue.length);
    },
  );
  gauge(
    metricNames.podsTerminatingSeconds,
    'For how long the oldest of them should have been gone: counted from the end of its grace.',
    ['node', 'fleet'],
    (oldest) => (state) => {
      for (const { place, overdue } of overdueByNode(state)) oldest.set(place, Math.max(...overdue) / 1000);
    },
  );
};

const overdueByNode = ({ pods, nodes, now }: Pods) => {
  const byNode = Map.groupBy(
    pods.flatMap((pod) => {
      const { held, deletedAt } = factsOf(pod);
      return held && deletedAt !== undefined && now >= deletedAt
        ? [{ node: pod.spec?.nodeName ?? '', forMs: now - deletedAt }]
        : [];
    }),
    ({ node }) => node,
  );
  const fleetOf = (name: string): string =>
    nodes.find(({ metadata }) => metadata.name === name)?.metadata.labels?.[labels.fleet] ?? '';
  return [...byNode].map(([node, found]) => ({
    place: { node, fleet: fleetOf(node) },
    overdue: found.map(({ forMs }) => forMs),
  }));
};
