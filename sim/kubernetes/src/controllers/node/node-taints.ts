import { timestamp } from '@tartan/kube/clock';
import { controllerManager } from '../../authentication/user.ts';
import { copy } from '../../object.ts';
import { asNode, type Condition, type Node, type Taint } from '../runtime/objects.ts';
import { watch } from '../runtime/watch.ts';
import { type Controller, type OnError, workQueue } from '../runtime/workqueue.ts';
import { sameTaint } from './tolerations.ts';

export const unreachable: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
export const notReady: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' };

const cordoned = 'node.kubernetes.io/unschedulable';

/** The taint of a condition, by its status. */
const byCondition: Record<string, Record<string, string>> = {
  Ready: { False: notReady.key, Unknown: unreachable.key },
  MemoryPressure: { True: 'node.kubernetes.io/memory-pressure' },
  DiskPressure: { True: 'node.kubernetes.io/disk-pressure' },
  NetworkUnavailable: { True: 'node.kubernetes.io/network-unavailable' },
  PIDPressure: { True: 'node.kubernetes.io/pid-pressure' },
};

const managed = new Set([cordoned, ...Object.values(byCondition).flatMap((taints) => Object.values(taints))]);

const keyFor = ({ type, status }: Condition): string[] => {
  const key = byCondition[type]?.[status];
  return key === undefined ? [] : [key];
};

/** Adds and removes taints; undefined when nothing changes. */
export const swapTaints = (
  taints: readonly Taint[],
  add: readonly Taint[],
  remove: readonly Taint[],
  now: number,
): Taint[] | undefined => {
  const kept = taints.filter((taint) => !remove.some((other) => sameTaint(taint, other)));
  const added = add.filter((taint) => !taints.some((other) => sameTaint(taint, other)));
  if (kept.length === taints.length && added.length === 0) return undefined;
  return [...kept, ...added.map((taint) => ({ ...taint, timeAdded: timestamp(now) }))];
};

/** The NoSchedule taints for the conditions and the cordon; undefined when they are up to date. */
export const conditionTaints = ({ spec, status }: Node, now: number): Taint[] | undefined => {
  const keys = [...(status?.conditions ?? []).flatMap(keyFor), ...(spec.unschedulable === true ? [cordoned] : [])];
  const wanted = [...new Set(keys)].map((key) => ({ key, effect: 'NoSchedule' }));
  const taints = spec.taints ?? [];
  const stale = taints.filter(({ key, effect }) => effect === 'NoSchedule' && managed.has(key) && !keys.includes(key));
  return swapTaints(taints, wanted, stale, now);
};

/** Of the two NoExecute taints, the one to add and the one to remove. */
export const evictionTaint = (readyStatus: string): { add: Taint; remove: Taint } =>
  readyStatus === 'Unknown' ? { add: unreachable, remove: notReady } : { add: notReady, remove: unreachable };

const labelPairs = [
  ['kubernetes.io/os', 'beta.kubernetes.io/os'],
  ['kubernetes.io/arch', 'beta.kubernetes.io/arch'],
] as const;

/** Copies the labels for system and architecture to their deprecated names; undefined when they are up to date. */
export const reconcileLabels = (labels: Record<string, string>): Record<string, string> | undefined => {
  const stale = labelPairs.filter(
    ([primary, secondary]) => labels[primary] !== undefined && labels[primary] !== labels[secondary],
  );
  if (stale.length === 0) return undefined;
  return { ...labels, ...Object.fromEntries(stale.map(([primary, secondary]) => [secondary, labels[primary] ?? ''])) };
};

/** Updates the NoSchedule taints of a Node from its conditions and cordon, and its deprecated labels from the new ones. */
export const nodeTaints = (onError: OnError): Controller => ({
  name: 'node-taints',
  start: (api) => {
    const nodes = api.find('', 'nodes');
    if (!nodes) return () => {};
    const reconcile = (name: string): void => {
      const found = api.get(nodes, '', name);
      if (!found) return;
      const node = asNode(copy(found));
      const taints = conditionTaints(node, api.clock.now());
      const labels = reconcileLabels(node.metadata.labels ?? {});
      if (!taints && !labels) return;
      if (taints && taints.length > 0) node.spec.taints = taints;
      else if (taints) delete node.spec.taints;
      if (labels) node.metadata.labels = labels;
      api.update(nodes, '', node, controllerManager);
    };
    const queue = workQueue({ clock: api.clock, reconcile, onError });
    const stop = watch(api, '', 'nodes', (current) => current && queue.add(current.metadata.name));
    return () => {
      stop();
      queue.stop();
    };
  },
});
