import { type Cause, forbidden, invalid, required, tooLong } from '../../errors/field-errors.ts';
import { equal, type Json, type KubeObject, type ObjectMeta, type OwnerReference } from '../../object.ts';
import { type Fields, listOf, objectsOf, textOf, textsOf } from '../../unstructured.ts';
import { asPrefix, byteLength, dnsLabel, dnsSubdomain, pathSegment, qualifiedName, validLabelValue } from './names.ts';

/** The properties of a kind that the rules for metadata depend on. */
export interface MetadataOf {
  namespaced: boolean;
  kind: string;
  group: string;
  plural: string;
}

type NameRule = (name: string, prefix: boolean) => string[];

const subdomainName: NameRule = (name, prefix) => dnsSubdomain(prefix ? asPrefix(name) : name);
const labelName: NameRule = (name, prefix) => dnsLabel(prefix ? asPrefix(name) : name);
const segmentName: NameRule = (name) => pathSegment(name);

const nameRules: Readonly<Record<string, NameRule>> = {
  namespaces: labelName,
  services: labelName,
  events: segmentName,
  'certificatesigningrequests.certificates.k8s.io': segmentName,
  'clusterroles.rbac.authorization.k8s.io': segmentName,
  'clusterrolebindings.rbac.authorization.k8s.io': segmentName,
  'roles.rbac.authorization.k8s.io': segmentName,
  'rolebindings.rbac.authorization.k8s.io': segmentName,
};

const nameRuleOf = ({ group, plural }: MetadataOf): NameRule =>
  nameRules[group === '' ? plural : `${plural}.${group}`] ?? subdomainName;

/** Kinds whose finalizers must be `domain/name`, or one of the legacy names. */
const strictFinalizers = ({ group, plural }: MetadataOf): boolean =>
  (group === '' && plural !== 'events') ||
  ['events.k8s.io', 'rbac.authorization.k8s.io', 'certificates.k8s.io'].includes(group);

/** Limit for all annotations of an object together. */
const annotationBytes = 256 * 1024;

const entries = (map: Record<string, string> | undefined): [string, string][] => Object.entries(map ?? {});

export const validateLabels = (labels: Record<string, string> | undefined, field: string): Cause[] =>
  entries(labels).flatMap(([key, value]) => [
    ...qualifiedName(key).map((text) => invalid(field, key, text)),
    ...validLabelValue(value).map((text) => invalid(field, value, text)),
  ]);

const validateAnnotations = (annotations: Record<string, string> | undefined): Cause[] => {
  const field = 'metadata.annotations';
  const size = entries(annotations).reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
  return [
    ...entries(annotations).flatMap(([key]) =>
      qualifiedName(key.toLowerCase()).map((text) => invalid(field, key, text)),
    ),
    ...(size > annotationBytes ? [tooLong(field, annotationBytes)] : []),
  ];
};

/** An owner reference as the real server prints it: these fields, in this order. */
const printed = ({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): Json => ({
  apiVersion,
  kind,
  name,
  uid,
  ...(controller === undefined ? {} : { controller }),
  ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
});

const validateOwnerReference = (owner: OwnerReference): Cause[] => {
  const field = 'metadata.ownerReferences';
  const hasVersion =
    owner.apiVersion !== '' && owner.apiVersion.split('/').length <= 2 && !owner.apiVersion.endsWith('/');
  return [
    ...(hasVersion ? [] : [invalid(`${field}.apiVersion`, owner.apiVersion, 'version must not be empty')]),
    ...(['kind', 'name', 'uid'] as const)
      .filter((key) => owner[key] === '')
      .map((key) => invalid(`${field}.${key}`, '', 'must not be empty')),
    ...(owner.apiVersion === 'v1' && owner.kind === 'Event'
      ? [invalid(field, printed(owner), '/v1, Kind=Event is disallowed from being an owner')]
      : []),
  ];
};

const validateOwnerReferences = (owners: readonly OwnerReference[]): Cause[] => {
  const complete = owners.map((owner) => ({
    ...owner,
    apiVersion: owner.apiVersion ?? '',
    kind: owner.kind ?? '',
    name: owner.name ?? '',
    uid: owner.uid ?? '',
  }));
  const first = complete.find(({ controller }) => controller);
  return complete.flatMap((owner) => [
    ...validateOwnerReference(owner),
    ...(owner.controller && first && owner !== first
      ? [
          invalid(
            'metadata.ownerReferences',
            complete.map(printed),
            `Only one reference can have Controller set to true. Found "true" in references for ${first.kind}/${first.name} and ${owner.kind}/${owner.name}`,
          ),
        ]
      : []),
  ]);
};

const validateFinalizers = (finalizers: readonly string[]): Cause[] => {
  const field = 'metadata.finalizers';
  return [
    ...finalizers.flatMap((finalizer) => qualifiedName(finalizer).map((text) => invalid(field, finalizer, text))),
    ...(finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')
      ? [invalid(field, [...finalizers], 'finalizer orphan and foregroundDeletion cannot be both set')]
      : []),
  ];
};

const oldFinalizers = ['kubernetes', 'orphan', 'foregroundDeletion'];

/** A finalizer without a domain must be a legacy name. */
export const validateFinalizerDomain = (finalizer: string, field: string): Cause[] =>
  finalizer.includes('/') || oldFinalizers.includes(finalizer)
    ? []
    : [invalid(field, finalizer, 'name is neither a standard finalizer name nor is it fully qualified')];

const validateFinalizerDomains = (metadata: ObjectMeta, resource: MetadataOf): Cause[] =>
  strictFinalizers(resource)
    ? (metadata.finalizers ?? []).flatMap((finalizer, index) =>
        validateFinalizerDomain(finalizer, `metadata.finalizers[${index}]`),
      )
    : [];

const validateNames = (metadata: ObjectMeta, rule: NameRule): Cause[] => [
  ...(metadata.generateName
    ? rule(metadata.generateName, true).map((text) =>
        invalid('metadata.generateName', metadata.generateName ?? '', text),
      )
    : []),
  ...(metadata.name
    ? rule(metadata.name, false).map((text) => invalid('metadata.name', metadata.name, text))
    : [required('metadata.name', 'name or generateName is required')]),
];

const validateNamespace = (namespace: string | undefined, namespaced: boolean): Cause[] => {
  const field = 'metadata.namespace';
  if (!namespaced) return namespace ? [forbidden(field, 'not allowed on this type')] : [];
  return namespace ? dnsLabel(namespace).map((text) => invalid(field, namespace, text)) : [required(field)];
};

const validateObjectMeta = (metadata: ObjectMeta, rule: NameRule, namespaced: boolean): Cause[] => [
  ...validateNames(metadata, rule),
  ...validateNamespace(metadata.namespace, namespaced),
  ...((metadata.generation ?? 0) < 0
    ? [invalid('metadata.generation', metadata.generation ?? 0, 'must be greater than or equal to 0')]
    : []),
  ...validateLabels(metadata.labels, 'metadata.labels'),
  ...validateAnnotations(metadata.annotations),
  ...validateOwnerReferences(metadata.ownerReferences ?? []),
  ...validateFinalizers(metadata.finalizers ?? []),
];

/** Validates the metadata of a new object, and the parts that the kind's own rules check again on every update. */
export const validateMetadata = (object: KubeObject, resource: MetadataOf): Cause[] => [
  ...validateObjectMeta(object.metadata, nameRuleOf(resource), resource.namespaced),
  ...validateFinalizerDomains(object.metadata, resource),
];

const newFinalizers = (metadata: ObjectMeta, old: ObjectMeta): Cause[] => {
  if (old.deletionTimestamp === undefined) return [];
  const added = [...new Set(metadata.finalizers ?? [])]
    .filter((finalizer) => !old.finalizers?.includes(finalizer))
    .sort();
  if (added.length === 0) return [];
  const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
  return [
    forbidden(
      'metadata.finalizers',
      `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
    ),
  ];
};

const immutableFields = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

const validateChange = (metadata: ObjectMeta, old: ObjectMeta): Cause[] => [
  ...newFinalizers(metadata, old),
  ...immutableFields
    .filter((field) => !equal(metadata[field] ?? null, old[field] ?? null))
    .map((field) => invalid(`metadata.${field}`, metadata[field] ?? null, 'field is immutable')),
  ...validateLabels(metadata.labels, 'metadata.labels'),
  ...validateAnnotations(metadata.annotations),
  ...validateOwnerReferences(metadata.ownerReferences ?? []),
];

/** Checks for every update of any kind. */
export const validateMetadataUpdate = (object: KubeObject, old: KubeObject, resource?: MetadataOf): Cause[] => [
  ...validateObjectMeta(object.metadata, pathSegment, resource?.namespaced ?? old.metadata.namespace !== undefined),
  ...validateChange(object.metadata, old.metadata),
];

/** The real server repeats most of these checks in the rules of each kind, so its causes contain them twice. */
export const validateKindMetadataUpdate = (object: KubeObject, old: KubeObject, resource: MetadataOf): Cause[] => [
  ...validateChange(object.metadata, old.metadata),
  ...validateFinalizerDomains(object.metadata, resource),
];

const validateOperator = (operator: string, count: number, path: string): Cause[] => {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return count > 0 ? [] : [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return count > 0
        ? [forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
        : [];
    default:
      return [invalid(`${path}.operator`, operator, 'not a valid selector operator')];
  }
};

/** A selector in an object: `matchLabels` and `matchExpressions`. */
export const validateLabelSelector = (selector: Fields, path: string): Cause[] => [
  ...validateLabels(textsOf(selector['matchLabels']), `${path}.matchLabels`),
  ...objectsOf(selector['matchExpressions']).flatMap((expression, index) => {
    const at = `${path}.matchExpressions[${index}]`;
    const values = listOf(expression['values']).map(textOf);
    const key = textOf(expression['key']);
    return [
      ...validateOperator(textOf(expression['operator']), values.length, at),
      ...qualifiedName(key).map((text) => invalid(`${at}.key`, key, text)),
      ...values.flatMap((value, number) =>
        validLabelValue(value).map((text) => invalid(`${at}.values[${number}]`, value, text)),
      ),
    ];
  }),
];
