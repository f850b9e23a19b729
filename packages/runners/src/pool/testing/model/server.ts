import type { PodFacts } from '../../snapshot.ts';

/** A Pod on the server. Every write creates a new one, with a new version. */
export interface ModelPod extends Omit<PodFacts, 'isStale' | 'node'> {
  readonly version: number;
  readonly image: number;
  readonly node: string | undefined;
  readonly isUnschedulable: boolean;
}

export interface ModelNode {
  readonly isReady: boolean;
  readonly readyChangedAt: number;
  readonly isDraining: boolean;
}

export interface ModelPool {
  readonly replicas: number;
  readonly maxConcurrentPercent: number;
  readonly image: number;
  readonly isDeleting: boolean;
  readonly hasFinalizer: boolean;
}

/** A Kubernetes API server, as far as pools need it. Calls `onDelete` for every Pod before it is deleted. */
export const modelServer = (pool: ModelPool, onDelete: (pod: ModelPod) => void) => {
  let version = 0;
  const pods = new Map<string, ModelPod>();
  const nodes = new Map<string, ModelNode>();
  /** Runners by the UID of the Pod that owns the Secret. */
  const secrets = new Map<string, number>();
  const state: { pool: ModelPool | undefined } = { pool };

  const update = (uid: string, facts: Partial<ModelPod>): ModelPod | undefined => {
    const pod = pods.get(uid);
    if (pod === undefined) return undefined;
    const next = { ...pod, ...facts, version: (version += 1) };
    pods.set(uid, next);
    return next;
  };
  const forget = (uid: string): void => {
    pods.delete(uid);
    secrets.delete(uid);
  };

  return {
    pods,
    nodes,
    secrets,
    get pool() {
      return state.pool;
    },
    setPool: (facts: Partial<ModelPool>) => {
      if (state.pool !== undefined) state.pool = { ...state.pool, ...facts };
    },
    /** The server rejects a new finalizer on an object that is being deleted. */
    holdPool: () => {
      if (state.pool?.isDeleting === false) state.pool = { ...state.pool, hasFinalizer: true };
    },
    letPoolGo: () => {
      state.pool = undefined;
    },
    deletePool: () => {
      if (state.pool !== undefined)
        state.pool = state.pool.hasFinalizer ? { ...state.pool, isDeleting: true } : undefined;
    },
    create: (image: number, now: number): ModelPod => {
      const uid = `p${(version += 1)}`;
      const pod: ModelPod = {
        uid,
        name: uid,
        version,
        image,
        createdAt: now,
        deletedAt: undefined,
        phase: 'pending',
        node: undefined,
        isUnschedulable: false,
        boundAt: undefined,
        runningSince: undefined,
        runnerID: undefined,
        retiredAt: undefined,
        isRetiredOffline: false,
        offlineSince: undefined,
        runnerVersion: undefined,
        job: 'unknown',
      };
      pods.set(uid, pod);
      return pod;
    },
    update,
    /** Removes the object. */
    forget,
    /** Returns the rest of the Pod; undefined: nothing. With a version, deletes only that version. */
    remove: (uid: string, now: number, expected?: number): ModelPod | 'conflict' | undefined => {
      const pod = pods.get(uid);
      if (pod === undefined) return undefined;
      if (expected !== undefined && pod.version !== expected) return 'conflict';
      if (pod.deletedAt !== undefined) return pod;
      onDelete(pod);
      // Agents hold Pods on their Mac by a finalizer.
      if (pod.node !== undefined) return update(uid, { deletedAt: now });
      forget(uid);
      return undefined;
    },
  };
};

export type ModelServer = ReturnType<typeof modelServer>;
