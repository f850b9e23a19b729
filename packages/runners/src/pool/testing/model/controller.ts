import { decide, type Plan, type Removal, type RetireReason } from '../../decide.ts';
import { defaultLimits, isSettlePeriodOver } from '../../limits.ts';
import { isSilent, podStateOf } from '../../pod-state.ts';
import type { NodeFacts, PodFacts, Snapshot } from '../../snapshot.ts';
import type { ModelGitHub } from './github.ts';
import type { ModelNode, ModelPod, ModelPool, ModelServer } from './server.ts';

/** A plan with its snapshot. */
export interface Pass {
  readonly snapshot: Snapshot;
  readonly plan: Plan;
}

interface ModelControllerDeps {
  readonly server: ModelServer;
  readonly github: ModelGitHub;
  readonly now: () => number;
  readonly passes: Pass[];
  /** A Pod was created, for a pool with this many replicas. */
  readonly onCreate: (pod: ModelPod, replicas: number) => void;
}

/** The next call, where the driver of the model needs it. */
type Call = 'delete' | undefined;
type Calls = Generator<Call, void>;

const nodeFacts = (
  name: string | undefined,
  isUnschedulable: boolean,
  nodes: ReadonlyMap<string, ModelNode>,
): NodeFacts => {
  if (name === undefined) return { kind: 'unscheduled', isUnschedulable };
  const node = nodes.get(name);
  return node === undefined ? { kind: 'gone' } : { kind: 'exists', ...node };
};

const factsOf = (
  pod: ModelPod,
  nodes: ReadonlyMap<string, ModelNode>,
  { image }: ModelPool,
  offline: ReadonlyMap<number, number>,
): PodFacts => ({
  ...pod,
  offlineSince: offline.get(pod.runnerID ?? 0),
  isStale: pod.image !== image,
  node: nodeFacts(pod.node, pod.isUnschedulable, nodes),
});

/**
 * Acts like the real controller, call by call: after each call the driver may let the rest of the model proceed, or crash the controller.
 * It decides from its watches and its own writes, and reads live before anything that cannot be undone.
 */
export const modelController = ({ server, github, now, passes, onCreate }: ModelControllerDeps) => {
  let pods = new Map(server.pods);
  let nodes = new Map(server.nodes);
  let pool = server.pool;
  const written = new Map<string, ModelPod | 'gone'>();
  /** Runners that a list showed as offline: since when. */
  const offline = new Map<number, number>();
  let isGitHubUsable = true;
  let work: Calls | undefined;
  let next: Call;

  /** The watches catch up. */
  const sync = (): void => {
    pods = new Map(server.pods);
    nodes = new Map(server.nodes);
    pool = server.pool;
    isGitHubUsable = true;
    for (const { runnerID = 0 } of pods.values()) {
      const isOffline = github.isOffline(runnerID, now());
      if (isOffline === true) offline.set(runnerID, offline.get(runnerID) ?? now());
      if (isOffline === false) offline.delete(runnerID);
    }
  };

  const note = (uid: string, pod: ModelPod | undefined): void => void written.set(uid, pod ?? 'gone');
  const known = (): ModelPod[] =>
    [...new Set([...pods.keys(), ...written.keys()])].flatMap((uid) => {
      const [cached, own] = [pods.get(uid), written.get(uid)];
      if (own === 'gone') return [];
      if (own === undefined || (cached !== undefined && cached.version >= own.version)) return cached ?? [];
      // Seen in the cache before, and deleted since by another client.
      return server.pods.has(uid) || cached !== undefined ? own : [];
    });
  const isAnswer = <T>(answer: T | 'problem'): answer is T => {
    if (answer !== 'problem') return true;
    isGitHubUsable = false;
    return false;
  };
  const fresh = (uid: string, of: ModelPool): { pod: ModelPod; facts: PodFacts } | undefined => {
    const pod = server.pods.get(uid);
    return pod && { pod, facts: factsOf(pod, server.nodes, of, offline) };
  };

  function* register(uid: string, isDeleting: boolean): Calls {
    let id: number | 'name taken' | 'problem' | undefined = server.secrets.get(uid);
    yield;
    if (id === undefined && !isDeleting) {
      id = github.mint(uid);
      yield;
      const taken = id === 'name taken' ? github.find(uid) : undefined;
      if (taken !== undefined) {
        github.remove(taken, now());
        yield;
        id = github.mint(uid);
        yield;
      }
      if (!isAnswer(id) || id === 'name taken' || !server.pods.has(uid)) return;
      server.secrets.set(uid, id);
      yield;
    }
    if (typeof id === 'number') note(uid, server.update(uid, { runnerID: id }));
  }

  function* retire(uid: string, reason: RetireReason, of: ModelPool): Calls {
    const seen = fresh(uid, of);
    yield;
    const mustBeOffline = reason === 'runner is offline';
    if (seen?.facts.runnerID === undefined) return;
    if (!(podStateOf(seen.facts) === 'idle' || (mustBeOffline && isSilent(seen.facts)))) return;
    const looked = github.get(seen.facts.runnerID, now());
    const isRetiredOffline = looked === 'none' ? mustBeOffline : github.isOffline(seen.facts.runnerID, now()) === true;
    yield;
    if (!isAnswer(looked) || looked === 'busy' || (mustBeOffline && !isRetiredOffline)) return;
    const removed = github.remove(seen.facts.runnerID, now());
    yield;
    if (!isAnswer(removed) || removed === 'busy') return;
    note(uid, server.update(uid, { retiredAt: now(), isRetiredOffline }));
  }

  const stillHolds = (reason: Removal['reason'], facts: PodFacts): boolean => {
    if (reason === 'node is gone') return podStateOf(facts) === 'lost';
    if (reason === 'never had a runner') return podStateOf(facts) === 'unregistered';
    return podStateOf(facts) === 'retired' && isSettlePeriodOver(facts, now(), defaultLimits);
  };

  function* remove(uid: string, reason: Removal['reason'], of: ModelPool): Calls {
    const seen = fresh(uid, of);
    yield;
    if (seen === undefined || !stillHolds(reason, seen.facts)) return;
    if (reason === 'never had a runner') {
      const id = server.secrets.get(uid);
      yield;
      if (id !== undefined) return note(uid, server.update(uid, { runnerID: id }));
    }
    yield 'delete';
    const left = server.remove(uid, now(), seen.pod.version);
    if (left !== 'conflict') note(uid, left);
  }

  function* reap(uid: string, version: number): Calls {
    yield;
    const left = server.remove(uid, now(), version);
    if (left !== 'conflict') note(uid, left);
  }

  function* pass(of: ModelPool): Calls {
    const pods = known();
    const { replicas, maxConcurrentPercent, isDeleting, hasFinalizer } = of;
    const snapshot: Snapshot = {
      now: now(),
      pool: { replicas, maxConcurrentPercent, isDeleting, hasFinalizer, hasGitHub: true },
      pods: pods.map((pod) => factsOf(pod, nodes, of, offline)),
      orphanedAccounts: [],
      github: isGitHubUsable ? 'usable' : 'unusable',
    };
    const plan = decide(snapshot);
    passes.push({ snapshot, plan });
    yield;
    if (plan.addFinalizer) server.holdPool();
    for (let made = 0; made < plan.create; made += 1) {
      const pod = server.create(of.image, now());
      note(pod.uid, pod);
      onCreate(pod, replicas);
      yield;
    }
    for (const uid of plan.reap) yield* reap(uid, pods.find((pod) => pod.uid === uid)?.version ?? 0);
    for (const uid of plan.register) yield* register(uid, isDeleting);
    for (const { uid, reason } of plan.retire) yield* retire(uid, reason, of);
    for (const { uid, reason } of plan.remove) yield* remove(uid, reason, of);
    yield;
    // Deleting the pool deletes its Pods: they are read live and checked by the same rules.
    const all = [...server.pods.values()].map((pod) => factsOf(pod, server.nodes, of, offline));
    if (plan.removeFinalizer && decide({ ...snapshot, pods: all }).removeFinalizer) server.letPoolGo();
  }

  return {
    sync,
    /** Makes one more call. False: the pass is over. */
    step: (): boolean => {
      if (pool === undefined || server.pool === undefined) return false;
      work ??= pass(pool);
      const { done, value } = work.next();
      next = value ?? undefined;
      if (done === true) work = undefined;
      return done !== true;
    },
    isAboutToDelete: (): boolean => next === 'delete',
    /** The controller has lost the lead. The returned function delivers its last call, if it was already sent. */
    crash: (): (() => void) => {
      const last = work;
      work = undefined;
      return () => void last?.next();
    },
  };
};

export type ModelController = ReturnType<typeof modelController>;
