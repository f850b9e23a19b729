import type { MachineDeployment, RollingUpdate } from '../kinds.ts';
import { labels } from '../names.ts';

/** What core's webhook fills in when somebody creates a MachineDeployment. Here nobody stands at the door, so the controller does it. */
export const withDefaults = ({ metadata, spec = {} }: MachineDeployment): NonNullable<MachineDeployment['spec']> => {
  const byName = { [labels.deploymentName]: metadata?.name ?? '' };
  const byCluster = { [labels.clusterName]: spec.clusterName ?? '' };
  const type = spec.rollout?.strategy?.type ?? 'RollingUpdate';
  const rollingUpdate: RollingUpdate = { maxSurge: 1, maxUnavailable: 0, ...spec.rollout?.strategy?.rollingUpdate };
  return {
    replicas: 1,
    ...spec,
    selector: {
      ...spec.selector,
      // Whoever gives no selector gets one that nobody else has.
      matchLabels: { ...(spec.selector ? {} : byName), ...spec.selector?.matchLabels, ...byCluster },
    },
    template: {
      ...spec.template,
      metadata: {
        ...spec.template?.metadata,
        labels: { ...spec.template?.metadata?.labels, ...byName, ...byCluster },
      },
      spec: { ...spec.template?.spec, clusterName: spec.clusterName ?? '' },
    },
    rollout: {
      ...spec.rollout,
      strategy: { type, ...(type === 'RollingUpdate' && { rollingUpdate }) },
    },
  };
};
