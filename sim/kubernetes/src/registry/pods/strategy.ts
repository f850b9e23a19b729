import { timestamp } from '@tartan/kube/clock';
import { admitNewPod, admitPodUpdate, pods } from '../../admission/pod-admission.ts';
import { copy, equal, type KubeObject } from '../../object.ts';
import { addQuantities, compareQuantities } from '../../quantity.ts';
import { plainStrategy, type Strategy } from '../../resource.ts';
import { childOf, type Fields, fieldsOf, listOf, numberOf, objectsOf, textOf, textsOf } from '../../unstructured.ts';
import { validateKindMetadataUpdate, validateMetadata } from '../validation/metadata.ts';
import { applyPodDefaults } from './defaults.ts';
import { validateAnnotationUpdate, validateNewPod, validatePod } from './validate-spec.ts';
import { validatePodStatus } from './validate-status.ts';
import { validateSpecUpdate } from './validate-update.ts';

type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

/** Only cpu and memory above zero decide the QoS class. */
const counted = (amounts: unknown): [string, string][] =>
  Object.entries(textsOf(amounts)).filter(
    ([name, amount]) => (name === 'cpu' || name === 'memory') && compareQuantities(amount, '0') > 0,
  );

/** The QoS class, from requests and limits. */
export const qosClassOf = (pod: KubeObject): QosClass => {
  const spec = fieldsOf(pod['spec']);
  const whole = fieldsOf(spec['resources']);
  const perContainer = [...objectsOf(spec['initContainers']), ...objectsOf(spec['containers'])].map((container) =>
    fieldsOf(container['resources']),
  );
  const parts: Fields[] = Object.keys(whole).length > 0 ? [whole] : perContainer;
  const requests: Record<string, string> = {};
  const limits: Record<string, string> = {};
  let limited = true;
  for (const resources of parts) {
    for (const [name, amount] of counted(resources['requests']))
      requests[name] = addQuantities(requests[name] ?? '0', amount);
    const found = counted(resources['limits']);
    for (const [name, amount] of found) limits[name] = addQuantities(limits[name] ?? '0', amount);
    limited &&= found.length === 2;
  }
  const names = Object.keys(requests);
  if (names.length === 0 && Object.keys(limits).length === 0) return 'BestEffort';
  const equal = names.every((name) => compareQuantities(requests[name] ?? '0', limits[name] ?? '0') === 0);
  return limited && equal && names.length === Object.keys(limits).length ? 'Guaranteed' : 'Burstable';
};

const resource = { ...pods, namespaced: true };

const gatedCondition = (now: number): Fields => ({
  type: 'PodScheduled',
  status: 'False',
  lastProbeTime: null,
  lastTransitionTime: timestamp(now),
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
});

/** A status update without observedGeneration keeps the old one. */
const keepObservedGenerations = (status: Fields, before: Fields): void => {
  if (status['observedGeneration'] === undefined && before['observedGeneration'] !== undefined) {
    status['observedGeneration'] = before['observedGeneration'];
  }
  const known = [...objectsOf(before['conditions'])];
  for (const condition of objectsOf(status['conditions'])) {
    const index = known.findIndex(({ type }) => type === condition['type']);
    const [old] = index === -1 ? [] : known.splice(index, 1);
    if (numberOf(condition['observedGeneration']) === 0 && old?.['observedGeneration'] !== undefined) {
      condition['observedGeneration'] = old['observedGeneration'];
    }
  }
};

/** A Pod that is not bound, or has ended, needs no grace period. */
const gracePeriod = (pod: KubeObject, requested: number | undefined): number => {
  const spec = fieldsOf(pod['spec']);
  const phase = textOf(fieldsOf(pod['status'])['phase']);
  if (textOf(spec['nodeName']) === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const period = requested ?? numberOf(spec['terminationGracePeriodSeconds']);
  return period < 0 ? 1 : period;
};

export const podStrategy: Strategy = {
  ...plainStrategy,
  hasStatus: true,
  graceful: true,
  returnsDeletedObject: true,
  statusMayChangeMetadata: true,
  applyDefaults: applyPodDefaults,
  // Counted here and not by the generic update, because binding changes the spec without a new generation.
  hasGeneration: false,
  prepareForCreate: (pod, context) => {
    admitNewPod(pod, context);
    pod.metadata.generation = 1;
    const gated = listOf(fieldsOf(pod['spec'])['schedulingGates']).length > 0;
    pod['status'] = {
      phase: 'Pending',
      ...(gated ? { conditions: [gatedCondition(context.api.clock.now())] } : {}),
      qosClass: qosClassOf(pod),
    };
  },
  prepareForUpdate: (pod, old) => {
    admitPodUpdate(pod, old);
    const generation = old.metadata.generation ?? 0;
    pod.metadata.generation = equal(pod['spec'], old['spec']) ? generation : generation + 1;
    if (pod.metadata.generation === 0) delete pod.metadata.generation;
  },
  prepareForStatusUpdate: (pod, old) => {
    const status = childOf(pod, 'status');
    const before = fieldsOf(old['status']);
    status['qosClass'] ??= before['qosClass'];
    keepObservedGenerations(status, before);
    pod['spec'] = copy(old['spec']);
    // Old kubelets corrupted them, and garbage collection depends on them.
    if (old.metadata.ownerReferences) pod.metadata.ownerReferences = copy(old.metadata.ownerReferences);
    else delete pod.metadata.ownerReferences;
  },
  validate: (pod, old) =>
    old
      ? [
          ...validateKindMetadataUpdate(pod, old, resource),
          ...validateMetadata(pod, resource),
          ...validatePod(pod),
          ...validateAnnotationUpdate(pod, old),
          ...validateSpecUpdate(pod, old),
        ]
      : validateNewPod(pod),
  validateStatus: (pod, old) => [
    ...validateKindMetadataUpdate(pod, old, resource),
    ...validateAnnotationUpdate(pod, old),
    ...validatePodStatus(pod, old),
  ],
  gracePeriodSeconds: gracePeriod,
  selectableFields: (pod) => {
    const [spec, status] = [fieldsOf(pod['spec']), fieldsOf(pod['status'])];
    return {
      'spec.nodeName': textOf(spec['nodeName']),
      'spec.host': textOf(spec['nodeName']),
      'spec.restartPolicy': textOf(spec['restartPolicy']),
      'spec.schedulerName': textOf(spec['schedulerName']),
      'spec.serviceAccountName': textOf(spec['serviceAccountName']),
      'spec.hostNetwork': String(spec['hostNetwork'] === true),
      'status.phase': textOf(status['phase']),
      'status.podIP': textOf(status['podIP']),
      'status.podIPs': '',
      'status.nominatedNodeName': textOf(status['nominatedNodeName']),
    };
  },
};
