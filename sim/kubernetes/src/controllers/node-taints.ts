import { controllerManager } from '../auth/user.ts';
import { copy } from '../object.ts';
import type { Controller } from './controller.ts';
import { keyQueue, type OnError } from './key-queue.ts';
import { conditionTaints, followedLabels } from './node-health/node-taints.ts';
import { asNode } from './shapes.ts';
import { watch } from './watch.ts';

/** Keeps the NoSchedule taints of a Node in step with its conditions and its cordon, and its old labels with the new ones. */
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
      const labels = followedLabels(node.metadata.labels ?? {});
      if (!taints && !labels) return;
      if (taints && taints.length > 0) node.spec.taints = taints;
      else if (taints) delete node.spec.taints;
      if (labels) node.metadata.labels = labels;
      api.update(nodes, '', node, controllerManager);
    };
    const queue = keyQueue({ clock: api.clock, reconcile, onError });
    const stop = watch(api, '', 'nodes', (current) => current && queue.add(current.metadata.name));
    return () => {
      stop();
      queue.stop();
    };
  },
});
