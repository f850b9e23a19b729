import type { Resource } from '../resource.ts';

/** The served resources: built-in ones, and those of custom resource definitions, which change at run time. */
export interface Registry {
  /** In all served versions. */
  all(): readonly Resource[];
  /** In that version; by default in the preferred one. */
  find(group: string, plural: string, version?: string): Resource | undefined;
  findKind(group: string, kind: string, version?: string): Resource | undefined;
  setCustom(definition: string, resources: readonly Resource[]): void;
}

export const createRegistry = (builtin: readonly Resource[]): Registry => {
  const custom = new Map<string, readonly Resource[]>();
  let all: readonly Resource[] = builtin;
  const index = new Map<string, Resource>();
  const reindex = (): void => {
    all = [...builtin, ...[...custom.values()].flat()];
    index.clear();
    for (const resource of all) {
      for (const key of [`p/${resource.group}/${resource.plural}`, `k/${resource.group}/${resource.kind}`]) {
        if (!index.has(key)) index.set(key, resource);
        index.set(`${key}/${resource.version}`, resource);
      }
    }
  };
  reindex();
  const look = (key: string, version: string | undefined): Resource | undefined =>
    index.get(version === undefined ? key : `${key}/${version}`);
  return {
    all: () => all,
    find: (group, plural, version) => look(`p/${group}/${plural}`, version),
    findKind: (group, kind, version) => look(`k/${group}/${kind}`, version),
    setCustom: (definition, resources) => {
      if (resources.length === 0) custom.delete(definition);
      else custom.set(definition, resources);
      reindex();
    },
  };
};
