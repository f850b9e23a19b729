import { plainStrategy, type Resource, type Strategy } from '../resource.ts';

const statusOf = { name: 'status', group: '', version: 'v1', kind: '', verbs: ['get', 'patch', 'update'] };

/** A kind with a plain strategy, for tests. */
export const testResource = (
  plural: string,
  kind: string,
  rest: Partial<Resource> = {},
  strategy: Partial<Strategy> = {},
): Resource => ({
  group: '',
  version: 'v1',
  kind,
  listKind: `${kind}List`,
  plural,
  singular: kind.toLowerCase(),
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: ['create', 'delete', 'get', 'list', 'update', 'watch'],
  custom: false,
  schema: undefined,
  strategy: { ...plainStrategy, ...strategy },
  subresources: strategy.hasStatus ? [statusOf] : [],
  prefix: `/${rest.group ?? ''}/${plural}/`,
  toStored: (object) => object,
  fromStored: (object) => object,
  ...rest,
});
