import { catalogue, type CatalogueGroup, type CatalogueResource, schemaOf } from '../generated/catalogue.ts';
import type { KubeObject } from '../object.ts';
import type { ClusterPki } from '../pki/pki.ts';
import { builtinColumns } from '../printers/builtin-columns.ts';
import { type Action, plainStrategy, type Resource, type Strategy, type Subresource } from '../resource.ts';
import type { Schema } from '../schema/schema.ts';
import { customResourceDefinitionStrategy } from './apiextensions/customresourcedefinitions.ts';
import { scaleColumns } from './apiextensions/scale.ts';
import { deploymentStrategy } from './apps/deployments.ts';
import { replicaSetStrategy } from './apps/replicasets.ts';
import { workloadScaleView } from './apps/workload.ts';
import { canonicalize } from './canonical-form.ts';
import { approvalView, certificateSigningRequestStrategy } from './certificates/certificatesigningrequests.ts';
import { configMapStrategy } from './core/configmaps.ts';
import { coreEventStrategy, eventStrategy, fromCoreEvent, toCoreEvent } from './core/events.ts';
import { finalizeView, namespaceStrategy } from './core/namespaces.ts';
import { nodeStrategy } from './core/nodes.ts';
import { secretStrategy } from './core/secrets.ts';
import { leaseStrategy } from './leases.ts';
import { podStrategy } from './pods/strategy.ts';
import { bindByObject, bindingView, bindPod, evictPod } from './pods/subresources.ts';
import { clusterRoleBindingStrategy, clusterRoleStrategy, roleBindingStrategy, roleStrategy } from './rbac.ts';
import { validateKindMetadataUpdate, validateMetadata } from './validation/metadata.ts';

const serviceAccountResource = { group: '', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true };

const serviceAccountStrategy: Strategy = {
  ...plainStrategy,
  returnsDeletedObject: true,
  validate: (account, old) =>
    old
      ? [
          ...validateKindMetadataUpdate(account, old, serviceAccountResource),
          ...validateMetadata(account, serviceAccountResource),
        ]
      : [],
};

/** Dependencies of the built-in kinds. */
interface BuiltinDeps {
  identity: ClusterPki;
  kubelet: Record<'log' | 'exec' | 'attach' | 'portforward', Action>;
  /** serviceaccounts/token. */
  token: Action;
  /** By plural. */
  reviews: Record<string, NonNullable<Resource['review']>>;
}

/** By `plural`, or `plural.group` outside the core group. */
const strategies: Readonly<Record<string, Strategy>> = {
  configmaps: configMapStrategy,
  events: coreEventStrategy,
  namespaces: namespaceStrategy,
  nodes: nodeStrategy,
  pods: podStrategy,
  secrets: secretStrategy,
  serviceaccounts: serviceAccountStrategy,
  'deployments.apps': deploymentStrategy,
  'replicasets.apps': replicaSetStrategy,
  'customresourcedefinitions.apiextensions.k8s.io': customResourceDefinitionStrategy,
  'certificatesigningrequests.certificates.k8s.io': certificateSigningRequestStrategy,
  'leases.coordination.k8s.io': leaseStrategy,
  'events.events.k8s.io': eventStrategy,
  'clusterroles.rbac.authorization.k8s.io': clusterRoleStrategy,
  'clusterrolebindings.rbac.authorization.k8s.io': clusterRoleBindingStrategy,
  'roles.rbac.authorization.k8s.io': roleStrategy,
  'rolebindings.rbac.authorization.k8s.io': roleBindingStrategy,
};

const subresourcesOf = (
  parts: BuiltinDeps,
  schema: Schema | undefined,
): Readonly<Record<string, Partial<Subresource>>> => ({
  'pods/log': { action: parts.kubelet.log },
  'pods/exec': { action: parts.kubelet.exec },
  'pods/attach': { action: parts.kubelet.attach },
  'pods/portforward': { action: parts.kubelet.portforward },
  'pods/binding': { action: bindPod, view: bindingView },
  'pods/eviction': { action: evictPod },
  'serviceaccounts/token': { action: parts.token },
  'namespaces/finalize': { view: finalizeView(schema) },
  'deployments/scale': { view: workloadScaleView(schemaOf('autoscaling', 'v1', 'Scale')), columns: scaleColumns },
  'replicasets/scale': { view: workloadScaleView(schemaOf('autoscaling', 'v1', 'Scale')), columns: scaleColumns },
  'certificatesigningrequests/approval': { view: { ...approvalView, schema } },
});

const subresource = (
  entry: CatalogueResource,
  { group, version }: CatalogueGroup,
  known: ReturnType<typeof subresourcesOf>,
): Subresource => {
  const body = { group: entry.group ?? group, version: entry.version ?? version, kind: entry.kind };
  const schema = schemaOf(body.group, body.version, body.kind);
  return {
    ...body,
    name: entry.name.split('/')[1] ?? '',
    verbs: entry.verbs,
    ...(schema ? { schema } : {}),
    ...known[entry.name],
  };
};

/** The kind's own defaults apply after the canonical form. */
const withCanonicalForm = (strategy: Strategy, schema: Schema | undefined): Strategy => ({
  ...strategy,
  applyDefaults: (object) => {
    if (schema) canonicalize(object, schema);
    strategy.applyDefaults(object);
  },
});

const same = (object: KubeObject): KubeObject => object;

const resource = (entry: CatalogueResource, from: CatalogueGroup, parts: BuiltinDeps): Resource => {
  const { group, version, resources } = from;
  const key = group === '' ? entry.name : `${entry.name}.${group}`;
  const review = key === 'bindings' ? bindByObject : parts.reviews[entry.name];
  const strategy = strategies[key];
  if (!strategy && entry.verbs.includes('get'))
    throw new Error(`the catalogue lists ${key}, but nothing here says what is special about it`);
  const schema = schemaOf(group, version, entry.kind);
  const columns = builtinColumns[key];
  const known = subresourcesOf(parts, schema);
  const isModernEvent = group === 'events.k8s.io';
  return {
    group,
    version,
    kind: entry.kind,
    listKind: `${entry.kind}List`,
    plural: entry.name,
    singular: entry.singularName,
    shortNames: entry.shortNames ?? [],
    categories: entry.categories ?? [],
    namespaced: entry.namespaced,
    verbs: entry.verbs,
    custom: false,
    schema,
    strategy: withCanonicalForm({ ...(strategy ?? plainStrategy), ...(columns ? { columns } : {}) }, schema),
    subresources: resources
      .filter(({ name }) => name.startsWith(`${entry.name}/`))
      .map((sub) => subresource(sub, from, known)),
    // Both event APIs share one store.
    prefix: isModernEvent ? 'core/events/' : `${group || 'core'}/${entry.name}/`,
    toStored: isModernEvent ? toCoreEvent : same,
    fromStored: isModernEvent ? fromCoreEvent : same,
    ...(review ? { review } : {}),
  };
};

/** All resources served from the start, in the order of the real server's discovery. */
export const builtinResources = (parts: BuiltinDeps): Resource[] =>
  catalogue.groups.flatMap((group) =>
    group.resources.filter(({ name }) => !name.includes('/')).map((entry) => resource(entry, group, parts)),
  );
