import { forbiddenTo } from '../../errors/api-error.ts';
import { type Cause, invalid } from '../../errors/field-errors.ts';
import { copy, type KubeObject, type ObjectMeta } from '../../object.ts';
import { plainStrategy, type Strategy, type View } from '../../resource.ts';
import { childOf, fieldsOf, listOf, textOf } from '../../unstructured.ts';
import {
  validateFinalizerDomain,
  validateKindMetadataUpdate,
  validateMetadata,
  validateMetadataUpdate,
} from '../validation/metadata.ts';
import { qualifiedName } from '../validation/names.ts';

const resource = { group: '', plural: 'namespaces', kind: 'Namespace', namespaced: false };

const nameLabel = 'kubernetes.io/metadata.name';

/** The cluster needs these. */
const protectedNamespaces = ['default', 'kube-system', 'kube-public'];

const finalizersOf = (namespace: KubeObject): string[] => listOf(fieldsOf(namespace['spec'])['finalizers']).map(textOf);

const phaseOf = (namespace: KubeObject): string => textOf(fieldsOf(namespace['status'])['phase']);

/** A namespace stays until its content is gone; until then it has `spec.finalizers`. */
export const namespaceHasFinalizers = (namespace: KubeObject): boolean =>
  finalizersOf(namespace).length > 0 || (namespace.metadata.finalizers ?? []).length > 0;

const applyDefaults = (namespace: KubeObject): void => {
  const { metadata } = namespace;
  if (metadata.name) metadata.labels = { ...metadata.labels, [nameLabel]: metadata.name };
  childOf(namespace, 'status')['phase'] ??= 'Active';
};

const validateFinalizers = (namespace: KubeObject, field: (index: number) => string): Cause[] =>
  finalizersOf(namespace).flatMap((finalizer, index) => [
    ...qualifiedName(finalizer).map((text) => invalid(field(index), finalizer, text)),
    ...validateFinalizerDomain(finalizer, field(index)),
  ]);

const validateNamespace = (namespace: KubeObject): Cause[] => validateFinalizers(namespace, () => 'spec.finalizers');

const validatePhase = (namespace: KubeObject): Cause[] => {
  const phase = phaseOf(namespace);
  const deleting = namespace.metadata.deletionTimestamp !== undefined;
  if (phase === (deleting ? 'Terminating' : 'Active')) return [];
  return [
    invalid(
      'status.Phase',
      phase,
      deleting
        ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
        : "may only be 'Active' if `deletionTimestamp` is empty",
    ),
  ];
};

export const namespaceStrategy: Strategy = {
  ...plainStrategy,
  hasStatus: true,
  statusMayChangeMetadata: true,
  returnsDeletedObject: true,
  applyDefaults,
  prepareForCreate: (namespace) => {
    applyDefaults(namespace);
    namespace['status'] = { phase: 'Active' };
    const finalizers = finalizersOf(namespace);
    if (!finalizers.includes('kubernetes')) childOf(namespace, 'spec')['finalizers'] = [...finalizers, 'kubernetes'];
  },
  prepareForUpdate: (namespace, old) => {
    namespace['spec'] = copy(old['spec']);
  },
  validate: (namespace, old) =>
    old
      ? [
          ...validateMetadata(namespace, resource),
          ...validateNamespace(namespace),
          ...validateKindMetadataUpdate(namespace, old, resource),
        ]
      : validateNamespace(namespace),
  validateStatus: (namespace, old) => [
    ...validateKindMetadataUpdate(namespace, old, resource),
    ...validatePhase(namespace),
  ],
  beforeDelete: (namespace) => {
    const { metadata } = namespace;
    if (protectedNamespaces.includes(metadata.name))
      throw forbiddenTo(resource, metadata.name, 'this namespace may not be deleted');
    // Namespaces have no grace period, not even 0.
    delete metadata.deletionGracePeriodSeconds;
    if (metadata.deletionTimestamp) childOf(namespace, 'status')['phase'] = 'Terminating';
  },
  blocksDeletion: namespaceHasFinalizers,
  selectableFields: (namespace) => ({ 'status.phase': phaseOf(namespace) }),
};

/** Only the server writes these, whatever the body says. */
const systemFields = [
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'generation',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

const withSystemFields = (metadata: ObjectMeta, old: ObjectMeta): ObjectMeta => {
  const next = { ...copy(metadata), name: old.name };
  for (const field of systemFields) {
    const value = old[field];
    if (value === undefined) delete next[field];
    else Object.assign(next, { [field]: value });
  }
  return next;
};

/** PUT namespaces/NAME/finalize: the only way to remove `spec.finalizers`. */
export const finalizeView = (schema: View['schema']): View => ({
  schema,
  read: (namespace) => namespace,
  write: (namespace, edited) => {
    const spec = fieldsOf(edited['spec']);
    const finalizers = listOf(spec['finalizers']);
    const next: KubeObject = {
      ...copy(namespace),
      metadata: withSystemFields(edited.metadata, namespace.metadata),
      spec: finalizers.length > 0 ? { finalizers: copy(finalizers) } : {},
    };
    applyDefaults(next);
    return next;
  },
  validate: (namespace, old) => [
    ...validateMetadataUpdate(namespace, old, resource),
    ...validateKindMetadataUpdate(namespace, old, resource),
    ...validateFinalizers(namespace, (index) => `spec.finalizers[${index}]`),
  ],
});
