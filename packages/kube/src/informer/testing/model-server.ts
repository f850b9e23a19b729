import { defineResource, type KubeObject, type Live } from '../../objects/object.ts';

export interface Thing extends KubeObject {
  spec: { color: string; step: number };
}

export const things = defineResource<Thing>({
  group: 'test.example',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
});

/** One write, as a watch reports it. */
export interface HistoryEntry {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  version: bigint;
  object: Live<Thing>;
}

/** An API server's state of one kind, with its whole history. Versions start beyond the range of exact doubles. */
export interface ModelServer {
  readonly version: bigint;
  readonly history: readonly HistoryEntry[];
  /** A watch can start at this version, not before it. */
  readonly compactedVersion: bigint;
  objects(): Live<Thing>[];
  /** Creates or updates the object. */
  write(name: string): void;
  remove(name: string): void;
  /** A write to another kind: the version increases without an event here. */
  writeElsewhere(): void;
  compact(): void;
}

const colors = ['red', 'green', 'blue'];

export const createModelServer = (): ModelServer => {
  let version = BigInt(Number.MAX_SAFE_INTEGER);
  let forgotten = version;
  let step = 0;
  const present = new Map<string, Live<Thing>>();
  const history: HistoryEntry[] = [];
  const happen = (type: HistoryEntry['type'], object: Live<Thing>): Live<Thing> => {
    version++;
    const stamped = { ...object, metadata: { ...object.metadata, resourceVersion: `${version}` } };
    history.push({ type, version, object: stamped });
    return stamped;
  };
  return {
    get version() {
      return version;
    },
    get compactedVersion() {
      return forgotten;
    },
    history,
    objects: () => [...present.values()],
    write: (name) => {
      step++;
      const old = present.get(name);
      const metadata = old?.metadata ?? {
        name,
        namespace: 'default',
        uid: `uid-${step}`,
        creationTimestamp: '2026-01-01T00:00:00Z',
        resourceVersion: '0',
      };
      const object = { metadata, spec: { color: colors[step % colors.length] ?? '', step } };
      present.set(name, happen(old ? 'MODIFIED' : 'ADDED', object));
    },
    remove: (name) => {
      const old = present.get(name);
      if (!old) return;
      present.delete(name);
      happen('DELETED', old);
    },
    writeElsewhere: () => {
      version++;
    },
    compact: () => {
      forgotten = version;
    },
  };
};
