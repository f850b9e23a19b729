import { timestamp } from '@tartan/kube/clock';
import { type Cause, invalid, required } from '../../errors/field-errors.ts';
import { goJson } from '../../go/fmt.ts';
import { isObject, type KubeObject } from '../../object.ts';
import { plainStrategy, type Strategy, type WriteContext } from '../../resource.ts';
import { validateNames, validateSpec, validateSpecUpdate } from './definition-validation.ts';
import { type Definition, definitionOf, withCondition } from './definition.ts';
import { establish } from './naming.ts';

/** On a definition that is being deleted, until its custom resources are gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

const group = 'apiextensions.k8s.io';

const othersInGroup = (definition: Definition, { api }: WriteContext): Definition[] => {
  const resource = api.find(group, 'customresourcedefinitions');
  if (!resource) return [];
  return api
    .list(resource, '')
    .map(definitionOf)
    .filter(({ metadata, spec }) => metadata.name !== definition.metadata.name && spec.group === definition.spec.group);
};

const now = ({ api }: WriteContext): string => timestamp(api.clock.now());

/** Only in-process clients can send a spec that is not an object: the API decodes bodies. */
const withDefaultsForValidation = (object: KubeObject): Definition => {
  if (!isObject(object['spec'])) object['spec'] = {};
  const definition = definitionOf(object);
  definition.spec.names ??= { plural: '', kind: '' };
  definition.spec.versions ??= [];
  return definition;
};

const applyDefaults = (object: KubeObject): void => {
  const { spec } = withDefaultsForValidation(object);
  const { names } = spec;
  if (!names.singular && names.kind) names.singular = names.kind.toLowerCase();
  if (!names.listKind && names.kind) names.listKind = `${names.kind}List`;
  spec.conversion ??= { strategy: 'None' };
  const service = spec.conversion.webhook?.clientConfig?.service;
  if (service) service.port ??= 443;
};

/** Every version in which objects may be stored. */
const withStorageVersion = (definition: Definition, stored: readonly string[]): string[] => {
  const name = definition.spec.versions.find(({ storage }) => storage)?.name;
  return name === undefined || stored.includes(name) ? [...stored] : [...stored, name];
};

/** In the real server a controller does this a moment later; here it is part of the write, so that clients need not wait. */
const updateEstablished = (definition: Definition, context: WriteContext): void => {
  const { storedVersions, ...status } = establish(definition, othersInGroup(definition, context), now(context));
  definition.status = { ...status, storedVersions: withStorageVersion(definition, storedVersions ?? []) };
};

const validateName = ({ metadata, spec }: Definition): Cause[] =>
  metadata.name === `${spec.names.plural}.${spec.group ?? ''}`
    ? []
    : [invalid('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group')];

const validateStored = ({ spec, status }: Definition): Cause[] => {
  const field = 'status.storedVersions';
  const stored = status?.storedVersions ?? [];
  const refused = (detail: string): Cause => ({
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${stored.length === 0 ? 'null' : goJson(stored)}: ${detail}`,
    field,
  });
  if (stored.length === 0) return [refused('must have at least one stored version')];
  const names = spec.versions.map(({ name }) => name);
  const gone = stored.flatMap((name, index) =>
    names.includes(name)
      ? []
      : [
          invalid(
            `${field}[${index}]`,
            name,
            `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
          ),
        ],
  );
  const missing = spec.versions
    .filter(({ name, storage }) => storage && !stored.includes(name))
    .map(({ name }) => refused(`must have the storage version ${name}`));
  return [...missing, ...gone];
};

const approval = 'api-approved.kubernetes.io';
const isApproved = (text: string): boolean =>
  text.startsWith('unapproved') || (URL.canParse(text) && new URL(text).host !== '');

/** Groups of Kubernetes itself need an approval annotation. */
const validateApproval = ({ metadata, spec }: Definition, old: Definition | undefined): Cause[] => {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(spec.group ?? '')) return [];
  const text = metadata.annotations?.[approval];
  if (old && old.metadata.annotations?.[approval] === text) return [];
  const field = `metadata.annotations[${approval}]`;
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111';
  if (!text) return [required(field, `protected groups must have approval annotation "${approval}", ${see}`)];
  if (isApproved(text)) return [];
  const rule = `protected groups must have approval annotation "${approval}" with either a URL or a reason starting with "unapproved", ${see}`;
  return [invalid(field, text, rule)];
};

const validatePreserveUnknownFields = ({ spec }: Definition, old: Definition | undefined): Cause[] =>
  spec.preserveUnknownFields && !old?.spec.preserveUnknownFields
    ? [
        invalid(
          'spec.preserveUnknownFields',
          true,
          'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
        ),
      ]
    : [];

const validateAccepted = ({ status }: Definition): Cause[] =>
  status?.acceptedNames ? validateNames(status.acceptedNames, 'status.acceptedNames') : [];

/** A delete only marks the definition: custom resources are deleted first. */
const beginDeletion = (object: KubeObject, context: WriteContext): void => {
  const definition = definitionOf(object);
  const { metadata } = definition;
  const conditions = definition.status?.conditions ?? [];
  if (conditions.some(({ type }) => type === 'Terminating')) return;
  metadata.finalizers = [...(metadata.finalizers ?? []).filter((name) => name !== cleanupFinalizer), cleanupFinalizer];
  delete metadata.deletionGracePeriodSeconds;
  if (metadata.generation !== undefined && metadata.generation > 1) metadata.generation -= 1;
  definition.status = {
    ...definition.status,
    conditions: withCondition(conditions, {
      type: 'Terminating',
      status: 'True',
      lastTransitionTime: now(context),
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    }),
  };
};

export const customResourceDefinitionStrategy: Strategy = {
  ...plainStrategy,
  hasStatus: true,
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  statusMayChangeMetadata: true,
  applyDefaults,
  prepareForCreate: (object, context) => {
    delete object['status'];
    updateEstablished(withDefaultsForValidation(object), context);
  },
  prepareForUpdate: (object, _old, context) => updateEstablished(withDefaultsForValidation(object), context),
  validate: (object, old) => {
    const definition = definitionOf(object);
    const before = old && definitionOf(old);
    return [
      ...(before ? [] : validateName(definition)),
      ...validateSpec(definition),
      ...(before ? validateSpecUpdate(definition, before) : []),
      ...(before ? validateAccepted(definition) : []),
      ...validateStored(definition),
      ...validateApproval(definition, before),
      ...validatePreserveUnknownFields(definition, before),
    ];
  },
  validateStatus: (object) => validateAccepted(definitionOf(object)),
  beforeDelete: beginDeletion,
  // The delete itself adds the finalizer.
  blocksDeletion: ({ metadata }) => metadata.deletionTimestamp === undefined || (metadata.finalizers ?? []).length > 0,
};
