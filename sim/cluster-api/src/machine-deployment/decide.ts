import type { Live } from '@tartan/kube';
import type { External } from '../contract/externals.ts';
import type { Cluster, Machine, MachineDeployment, MachineSet } from '../kinds.ts';
import type { Sets } from './find-sets.ts';
import { factsOf, type Plan, planOnDelete, planPaused, planRollingUpdate } from './plan-rollout.ts';

export interface Snapshot {
  /** With what core fills in. */
  readonly deployment: Live<MachineDeployment>;
  readonly cluster: Live<Cluster>;
  readonly sets: Sets;
  readonly machines: readonly Live<Machine>[];
  readonly template: External | undefined;
  readonly now: number;
}

export type Decision =
  /** The numbers belong to `sets`. Without a current set, one is made for the first of them. */
  | { kind: 'scale'; current: number | undefined; old: readonly number[]; makes: boolean }
  /** Nothing to clone from: nothing is made that could not be filled. */
  | { kind: 'waitForTemplate' }
  | { kind: 'delete'; sets: readonly Live<MachineSet>[] }
  | { kind: 'finish' };

const all = ({ current, old }: Sets): Live<MachineSet>[] => [...(current ? [current] : []), ...old];

const nobody = { replicas: 0, existing: 0, available: 0 };

export const decide = ({ deployment, sets, template }: Snapshot): Decision => {
  if (deployment.metadata.deletionTimestamp !== undefined) {
    if (all(sets).length === 0) return { kind: 'finish' };
    return { kind: 'delete', sets: all(sets).filter(({ metadata }) => metadata.deletionTimestamp === undefined) };
  }
  const current = sets.current && factsOf(sets.current);
  const old = sets.old.map(factsOf);
  if (deployment.spec?.paused === true)
    return { kind: 'scale', ...planPaused(deployment, { current, old }), makes: false };
  if (!current && !template?.object) return { kind: 'waitForTemplate' };
  const planned = deployment.spec?.rollout?.strategy?.type === 'OnDelete' ? planOnDelete : planRollingUpdate;
  const plan: Plan = planned(deployment, { current: current ?? nobody, old });
  return { kind: 'scale', ...plan, makes: !current };
};

/** Old sets that are of no use any more, once all is as it should be. */
export const emptySets = ({ deployment, sets, machines }: Snapshot): Live<MachineSet>[] => {
  const { replicas = 1 } = deployment.spec ?? {};
  const { current, old } = sets;
  const isDone =
    current !== undefined &&
    machines.length === replicas &&
    factsOf(current).existing === replicas &&
    factsOf(current).available === replicas;
  return isDone
    ? old.filter(
        ({ metadata, spec, status }) =>
          metadata.deletionTimestamp === undefined &&
          spec?.replicas === 0 &&
          status?.replicas === 0 &&
          (status.observedGeneration ?? 0) >= (metadata.generation ?? 0),
      )
    : [];
};
