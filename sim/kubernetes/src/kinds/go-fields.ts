import type { Schema } from '../schema/schema.ts';

/**
 * What Go's types know about the fields of built-in kinds and OpenAPI does not say: which scalars are pointers, so that `false`
 * and `0` differ from absence, and which zero values are written out all the same. Read from the types of Kubernetes 1.36.
 */

const pointers = new Set(
  `activeDeadlineSeconds collisionCount progressDeadlineSeconds revisionHistoryLimit terminatingReplicas allocateLoadBalancerNodePorts allowPrivilegeEscalation appProtocol automountServiceAccountToken
  blockOwnerDeletion cachingMode controller defaultMode deletionGracePeriodSeconds deprecationWarning enableServiceLinks
  expirationSeconds fsGroup fsGroupChangePolicy gmsaCredentialSpec gmsaCredentialSpecName gracePeriodSeconds holderIdentity
  hostProcess hostUsers hostnameOverride immutable initiatorName internalTrafficPolicy ipFamilyPolicy ipMode labelSelectorPath
  leaseDurationSeconds leaseTransitions loadBalancerClass localhostProfile maxExpirationSeconds maxItems maxLength maxProperties
  maximum minDomains minItems minLength minProperties minimum mode mountPropagation multipleOf nodeAffinityPolicy
  nodeTaintsPolicy optional optionalOldSelf orphanDependents podGroupName preemptionPolicy preferredHolder privileged procMount
  propagationPolicy readOnlyRootFilesystem recursiveReadOnly recursiveReadOnlyMounts remainingItemCount
  resourceClaimTemplateName runAsGroup runAsNonRoot runAsUser runAsUserName runtimeClassName seLinuxChangePolicy service
  setHostnameAsFQDN shareProcessNamespace started stopSignal storageClassName supplementalGroupsPolicy
  terminationGracePeriodSeconds tolerationSeconds trafficDistribution userNamespaces volumeAttributesClassName volumeMode
  x-kubernetes-list-type x-kubernetes-map-type x-kubernetes-preserve-unknown-fields $ref`.split(/\s+/),
);

/** Names that are pointers in one type only, which another field of that type tells apart from the others. */
const pointersBeside: Readonly<Record<string, string>> = {
  priority: 'schedulerName',
  restartPolicy: 'image',
  strategy: 'holderIdentity',
  resourceClaimName: 'name',
  reason: 'messageExpression',
  url: 'caBundle',
  fsType: 'volumeAttributes',
  readOnly: 'volumeAttributes',
  signerName: 'labelSelector',
  name: 'labelSelector',
  lun: 'wwids',
};

export const isPointer = (name: string, type: Schema): boolean => {
  const fields = type.properties ?? {};
  if (pointers.has(name)) return true;
  if (name === 'replicas') return 'selector' in fields && 'template' in fields;
  if (name === 'type') return Object.keys(fields).sort().join() === 'path,type';
  if (name === 'timeoutSeconds') return !('periodSeconds' in fields);
  if (name === 'value') return Object.keys(fields).sort().join() === 'name,value' && !type.required?.includes('value');
  if (name === 'path' || name === 'port') return 'namespace' in fields && 'path' in fields;
  const beside = Object.hasOwn(pointersBeside, name) ? pointersBeside[name] : undefined;
  return beside !== undefined && beside in fields;
};

/** Times that are no pointers: absent ones are written as null. */
export const isWrittenTime = (name: string): boolean =>
  /^(last(Transition|Update|Heartbeat|Probe|Observed)Time|(started|finished)At|eventTime|(deprecated)?(first|last)Timestamp|expirationTimestamp)$/i.test(
    name,
  );

export const isMicroTime = (name: string): boolean =>
  ['renewTime', 'acquireTime', 'eventTime', 'lastObservedTime'].includes(name);

/** Lists that are written as null when they are empty, besides those that the schema requires. */
export const isWrittenList = (name: string, type: Schema): boolean =>
  type.required?.includes(name) === true ||
  ['sources', 'rules', 'names', 'audiences', 'storedVersions'].includes(name) ||
  (name === 'conditions' && 'storedVersions' in (type.properties ?? {}));

/** Zero values that are written out: those that the schema requires, and those it has a zero default for. */
export const isWrittenZero = (name: string, field: Schema, type: Schema): boolean => {
  if (type.required?.includes(name)) return true;
  return field.default !== undefined && (name !== 'name' || 'features' in (type.properties ?? {}));
};
