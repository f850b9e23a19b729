import type { Resource, Subresource } from '../resource.ts';

/** The order in which the real server names the verbs of a custom resource; those of built-in kinds it sorts. */
const customVerbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

export const verbsOf = (resource: Resource): string[] =>
  resource.custom
    ? [...resource.verbs].sort((a, b) => customVerbs.indexOf(a) - customVerbs.indexOf(b))
    : [...resource.verbs].sort();

/** `status` comes before `scale` at custom resources; at built-in kinds the alphabet decides. */
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
