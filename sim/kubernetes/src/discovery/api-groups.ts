import type { Resource, Subresource } from '../resource.ts';

export interface GroupVersion {
  group: string;
  version: string;
  /** Sorted by plural. */
  resources: readonly Resource[];
  custom: boolean;
}

export interface Group {
  name: string;
  /** Preferred version first. */
  versions: readonly GroupVersion[];
  custom: boolean;
}

/** The order in which the real server lists its groups: by priority, which decides what a short name means. */
const priority = [
  '',
  'apiregistration.k8s.io',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
  'resource.k8s.io',
  'flowcontrol.apiserver.k8s.io',
];

const rank = (group: string): number => {
  const index = priority.indexOf(group);
  return index === -1 ? priority.length : index;
};

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const stability = { alpha: 0, beta: 1, '': 2 } as const;

/** `[stability, major, minor]` of a Kubernetes-style version. */
const parts = (version: string): readonly [number, number, number] | undefined => {
  const match = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version);
  if (!match) return undefined;
  const [, major, stage, minor] = match;
  return [stability[stage === 'alpha' || stage === 'beta' ? stage : ''], Number(major), Number(minor ?? 0)];
};

/** Most preferred first: stable before beta before alpha, newer before older, then other versions by name. */
export const compareVersions = (a: string, b: string): number => {
  const [left, right] = [parts(a), parts(b)];
  if (!left || !right) return left ? -1 : right ? 1 : order(a, b);
  for (let index = 0; index < left.length; index++) {
    const difference = (right[index] ?? 0) - (left[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
};

/** All served resources by group, in the order of discovery. */
export const groupsOf = (resources: readonly Resource[]): Group[] =>
  [...Map.groupBy(resources, ({ group }) => group)]
    .sort(([a], [b]) => rank(a) - rank(b) || order(a, b))
    .map(([name, members]) => ({
      name,
      custom: members.every(({ custom }) => custom),
      versions: [...Map.groupBy(members, ({ version }) => version)]
        .sort(([a], [b]) => compareVersions(a, b))
        .map(([version, served]) => ({
          group: name,
          version,
          resources: served.sort((a, b) => order(a.plural, b.plural)),
          custom: served.every(({ custom }) => custom),
        })),
    }));

/** The order in which the real server lists the verbs of a custom resource. It sorts those of built-in kinds. */
const customVerbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

export const verbsOf = (resource: Resource): string[] =>
  resource.custom
    ? [...resource.verbs].sort((a, b) => customVerbs.indexOf(a) - customVerbs.indexOf(b))
    : [...resource.verbs].sort();

/** `status` comes before `scale` for custom resources; those of built-in kinds are sorted. */
export const subresourcesOf = (resource: Resource): Subresource[] =>
  [...resource.subresources].sort((a, b) => {
    const direction = resource.custom ? -1 : 1;
    return a.name < b.name ? -direction : direction;
  });

const nonEmpty = <T>(name: string, list: readonly T[]): Record<string, readonly T[]> =>
  list.length > 0 ? { [name]: list } : {};

export const namesOf = (resource: Resource): Record<string, readonly string[]> => ({
  ...nonEmpty('shortNames', resource.shortNames),
  ...nonEmpty('categories', resource.categories),
});

const subresourceEntry = (resource: Resource, subresource: Subresource): unknown => ({
  name: `${resource.plural}/${subresource.name}`,
  singularName: '',
  namespaced: resource.namespaced,
  ...(subresource.group === resource.group && subresource.version === resource.version
    ? {}
    : { group: subresource.group, version: subresource.version }),
  kind: subresource.kind,
  verbs: [...subresource.verbs].sort(),
});

/** The entries of a resource and its subresources in an APIResourceList. */
export const resourceEntries = (resource: Resource): unknown[] => [
  {
    name: resource.plural,
    singularName: resource.singular,
    namespaced: resource.namespaced,
    kind: resource.kind,
    verbs: verbsOf(resource),
    ...namesOf(resource),
  },
  ...subresourcesOf(resource).map((subresource) => subresourceEntry(resource, subresource)),
];
