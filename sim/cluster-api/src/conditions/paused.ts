import type { ConditionUpdate, KubeObject } from '@tartan/kube';
import type { Cluster } from '../kinds.ts';
import { annotations } from '../names.ts';

/** Why an object is paused. Empty: it is not. */
const pauseReasons = (cluster: Cluster, kind: string, { metadata }: KubeObject): string[] => [
  ...(cluster.spec?.paused === true ? ['Cluster spec.paused is set to true'] : []),
  ...(annotations.paused in (metadata?.annotations ?? {}) ? [`${kind} has the ${annotations.paused} annotation`] : []),
];

export const pausedCondition = (cluster: Cluster, kind: string, object: KubeObject): ConditionUpdate => {
  const pauses = pauseReasons(cluster, kind, object);
  return {
    type: 'Paused',
    ...(pauses.length > 0
      ? { status: 'True', reason: 'Paused', message: pauses.join(', ') }
      : { status: 'False', reason: 'NotPaused' }),
  };
};
