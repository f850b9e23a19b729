import { type ModelController, modelController, type Pass } from './controller.ts';
import { modelGitHub } from './github.ts';
import { type ModelMac, modelMac } from './mac.ts';
import { seededRandom } from './random.ts';
import { modelServer } from './server.ts';

export interface Size {
  readonly seed: number;
  readonly macs: number;
  readonly replicas: number;
  readonly maxConcurrentPercent: number;
}

const tickMs = 5000;

/**
 * A model of a pool and its environment: a server, GitHub, Macs with their agents and guests, a scheduler, a controller. Delays are random,
 * within the bounds that the controller's limits assume. Violations of invariants are recorded as they happen.
 */
export const modelCluster = ({ seed, macs: count, replicas, maxConcurrentPercent }: Size) => {
  let now = Date.parse('2026-01-01T12:00:00Z');
  let born = 0;
  const dice = seededRandom(seed);
  const macs = new Map<string, ModelMac>();
  /** Pods that were deleted during a job; the pool if too many Pods were created. */
  const violations: string[] = [];
  const passes: Pass[] = [];
  const github = modelGitHub();
  const pool = { replicas, maxConcurrentPercent, image: 1, isDeleting: false, hasFinalizer: false };
  const server = modelServer(pool, ({ uid, node = '' }) => {
    if (macs.get(node)?.hasJob(uid) === true) violations.push(`${uid} was deleted with a job`);
  });

  const join = (): void => {
    const name = `mac-${born++}`;
    macs.set(name, modelMac(name, server, github, dice));
    server.nodes.set(name, { isReady: true, readyChangedAt: now, isDraining: false });
    macs.get(name)?.tick(now);
  };
  for (let made = 0; made < count; made += 1) join();

  const alive = () =>
    [...server.pods.values()].filter(({ deletedAt, phase }) => deletedAt === undefined && phase !== 'ended');
  const startController = () =>
    modelController({
      server,
      github,
      now: () => now,
      passes,
      onCreate: ({ uid }, wanted) => {
        if (isLate) return void late.add(uid);
        const counted = alive().filter((pod) => !late.has(pod.uid)).length;
        if (counted > wanted) violations.push(`${counted} live where ${wanted} are wanted`);
      },
    });
  let controller: ModelController = startController();
  /** Calls of crashed controllers, which may arrive at any time. No controller can know of a Pod that such a call creates. */
  const underWay: (() => void)[] = [];
  const late = new Set<string>();
  let isLate = false;

  const schedule = (): void => {
    const open = [...macs.values()].filter(({ name }) => {
      const node = server.nodes.get(name);
      return node?.isReady === true && !node.isDraining;
    });
    for (const { uid, node, deletedAt } of alive()) {
      if (node !== undefined || deletedAt !== undefined) continue;
      const mac = open.find((each) => each.hasPlace());
      if (mac !== undefined) server.update(uid, { node: mac.name, boundAt: now, isUnschedulable: false });
      else if (server.pods.get(uid)?.isUnschedulable === false) server.update(uid, { isUnschedulable: true });
    }
  };

  /** Garbage collection: Pods of removed Macs, and those of a deleted pool. */
  const collect = (): void => {
    for (const { uid, node, deletedAt } of server.pods.values()) {
      if (server.pool === undefined && deletedAt === undefined) server.remove(uid, now);
      if (deletedAt !== undefined && node !== undefined && !macs.has(node)) server.forget(uid);
    }
  };

  const workUntil = (isThere: () => boolean): void => {
    controller.sync();
    for (let step = 0; step < 100; step += 1) if (isThere() || !controller.step()) return;
  };

  const at = (index: number): ModelMac | undefined => [...macs.values()][index % Math.max(1, macs.size)];
  const cluster = {
    wrongs: violations,
    passes,
    github: github.state,
    server,
    alive,
    sync: (): void => controller.sync(),
    pass: (ticks: number): void => {
      for (let tick = 0; tick < ticks; tick += 1) {
        now += tickMs;
        schedule();
        for (const mac of macs.values()) mac.tick(now);
        collect();
      }
    },
    work: (steps: number): void => {
      for (let step = 0; step < steps; step += 1) if (!controller.step()) return;
    },
    round: (): void => {
      controller.sync();
      cluster.work(1000);
      cluster.pass(2);
    },
    /** Another controller takes over with only the server's state. */
    crash: (): void => {
      underWay.push(controller.crash());
      controller = startController();
    },
    arrive: (): void => {
      isLate = true;
      underWay.shift()?.();
      isLate = false;
    },
    /** Crashes when a Pod has a configuration, but not yet the annotation. */
    crashInRegistration: (): void => {
      const isHalf = (uid: string): boolean => server.pods.has(uid) && server.pods.get(uid)?.runnerID === undefined;
      workUntil(() => [...server.secrets.keys()].some(isHalf));
      cluster.crash();
      underWay.pop();
    },
    /** The pool is scaled up, down and up again, and the controller freezes with the delete of a Pod in flight. */
    freezeInDelete: (): void => {
      const { replicas: wanted = 0 } = server.pool ?? {};
      server.setPool({ replicas: wanted + 1 });
      workUntil(() => alive().length > wanted);
      cluster.pass(1);
      cluster.crash();
      server.setPool({ replicas: wanted });
      workUntil(() => controller.isAboutToDelete());
      cluster.crash();
      server.setPool({ replicas: wanted + 1 });
    },
    /** Pods are to be retired, and GitHub assigns a job right before the pass that sees it. */
    assignBeforeRetire: (why: 'surplus' | 'image' | 'drain'): void => {
      if (why === 'surplus') server.setPool({ replicas: 0 });
      if (why === 'image') server.setPool({ image: (server.pool?.image ?? 0) + 1 });
      if (why === 'drain') cluster.cordon(dice(8), true);
      github.state.queued += 1;
      cluster.pass(1);
      cluster.round();
    },
    join,
    /** An agent is down for a while and has just come back. */
    restartAgent: (index: number, ticks: number): void => {
      cluster.setUp(index, false);
      cluster.pass(ticks);
      cluster.setUp(index, true);
      cluster.pass(1);
    },
    setUp: (index: number, isUp: boolean): void => at(index)?.setUp(isUp, now),
    /** Removes a Mac together with its Node: the Node is never deleted earlier. */
    removeMac: (index: number): void => {
      const name = at(index)?.name ?? '';
      macs.delete(name);
      server.nodes.delete(name);
    },
    cordon: (index: number, isDraining: boolean): void => {
      const name = at(index)?.name ?? '';
      const node = server.nodes.get(name);
      if (node !== undefined) server.nodes.set(name, { ...node, isDraining });
    },
    /** A user removes a runner at GitHub. */
    removeRunner: (index: number): void => {
      const ids = [...github.runners.keys()];
      github.runners.delete(ids[index % Math.max(1, ids.length)] ?? 0);
    },
    /** Ends all faults, adds enough Macs, stops new jobs; and a user deletes Pods whose state can never become known. */
    endFaults: (): void => {
      Object.assign(github.state, { isOut: false, isLying: false, queued: 0 });
      while (macs.size * 2 < (server.pool?.replicas ?? 0) + 2) join();
      for (let index = 0; index < macs.size; index += 1) {
        cluster.setUp(index, true);
        cluster.cordon(index, false);
      }
    },
    deleteMute: (): void => {
      for (const { uid, node = '', retiredAt, isRetiredOffline } of alive()) {
        const mac = macs.get(node);
        // After another client removed a runner, GitHub cannot tell that it was offline.
        const isForgotten = mac?.isSilentWithoutRunner(uid) === true && retiredAt !== undefined && !isRetiredOffline;
        if ((mac?.isSilent(uid) === true && !mac.hasJob(uid)) || isForgotten) server.remove(uid, now);
      }
    },
    isSettled: (): boolean => {
      const left = [...server.pods.values()];
      if (server.pool === undefined) return left.length === 0;
      const { replicas: wanted, image } = server.pool;
      return (
        left.length === wanted &&
        left.every((pod) => pod.image === image && pod.job === 'none' && pod.retiredAt === undefined)
      );
    },
    describe: (): string =>
      JSON.stringify({ pool: server.pool, pods: [...server.pods.values()], nodes: [...server.nodes] }, undefined, 1),
  };
  return cluster;
};

export type ModelCluster = ReturnType<typeof modelCluster>;
