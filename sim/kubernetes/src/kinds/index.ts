import type { Identity } from '../auth/identity.ts';
import { catalogue, type CatalogueGroup, type CatalogueResource, schemaOf } from '../generated/catalogue.ts';
import type { KubeObject } from '../object.ts';
import type { Action, Resource, Strategy, Subresource } from '../resource.ts';
import type { Schema } from '../schema/schema.ts';
import { builtinColumns } from '../table/builtin.ts';
import { canonical } from './canonical.ts';
import { approvalView, certificateSigningRequestStrategy } from './certificatesigningrequests.ts';
import { configMapStrategy } from './configmaps.ts';
import { customResourceDefinitionStrategy } from './customresourcedefinitions.ts';
import { fromCoreEvent, toCoreEvent } from './event-conversion.ts';
import { coreEventStrategy, eventStrategy } from './events.ts';
import { leaseStrategy } from './leases.ts';
import { finalizeView, namespaceStrategy } from './namespaces.ts';
import { nodeStrategy } from './nodes.ts';
import { bindByObject, bindingView, bindPod } from './pods/binding.ts';
import { evictPod } from './pods/eviction.ts';
import { podStrategy } from './pods/strategy.ts';
import { clusterRoleBindingStrategy, clusterRoleStrategy, roleBindingStrategy, roleStrategy } from './rbac.ts';
import { scaleColumns } from './scale.ts';
import { secretStrategy } from './secrets.ts';
import { serviceAccountStrategy } from './serviceaccounts.ts';
import { plainStrategy } from './strategy.ts';
import { deploymentStrategy } from './workloads/deployments.ts';
import { replicaSetStrategy } from './workloads/replicasets.ts';
import { workloadScale } from './workloads/scale-of-workload.ts';

/** What the built-in kinds need of the rest of the server. */
export interface BuiltinParts {
  identity: Identity;
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
  parts: BuiltinParts,
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
  'deployments/scale': { view: workloadScale(schemaOf('autoscaling', 'v1', 'Scale')), columns: scaleColumns },
  'replicasets/scale': { view: workloadScale(schemaOf('autoscaling', 'v1', 'Scale')), columns: scaleColumns },
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

/** The kind's own defaults come after Go's types have had their say. */
const asInGo = (strategy: Strategy, schema: Schema | undefined): Strategy => ({
  ...strategy,
  applyDefaults: (object) => {
    if (schema) canonical(object, schema);
    strategy.applyDefaults(object);
  },
});

const same = (object: KubeObject): KubeObject => object;

const resource = (entry: CatalogueResource, from: CatalogueGroup, parts: BuiltinParts): Resource => {
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
    strategy: asInGo({ ...(strategy ?? plainStrategy), ...(columns ? { columns } : {}) }, schema),
    subresources: resources
      .filter(({ name }) => name.startsWith(`${entry.name}/`))
      .map((sub) => subresource(sub, from, known)),
    // Both event APIs show one store.
    prefix: isModernEvent ? 'core/events/' : `${group || 'core'}/${entry.name}/`,
    toStored: isModernEvent ? toCoreEvent : same,
    fromStored: isModernEvent ? fromCoreEvent : same,
    ...(review ? { review } : {}),
  };
};

/** Everything that is served from the start, in the order of the real server's discovery. */
export const builtinResources = (parts: BuiltinParts): Resource[] =>
  catalogue.groups.flatMap((group) =>
    group.resources.filter(({ name }) => !name.includes('/')).map((entry) => resource(entry, group, parts)),
  );
