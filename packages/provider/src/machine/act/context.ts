import type { MachineStatus } from '@tartan/api';
import { type CallOptions, type ReconcileResult, requeueAfter } from '@tartan/kube';
import { type ActionResult, stale, succeeded } from '../decision.ts';
import type { AttemptResult } from '../last-attempt.ts';
import type { MachinePatcher } from '../machine.ts';
import type { Observation, ProcessMemory } from '../observe.ts';
import type { MachineControllerOptions } from '../options.ts';
import { intervals, type RequeueLimiter } from '../requeue.ts';
import type { PushSlots, RunningPushes } from './running-pushes.ts';

export type MachineDeps = MachineControllerOptions &
  ProcessMemory & {
    readonly requeueLimiter: RequeueLimiter;
    readonly slots: PushSlots;
    readonly pushes: RunningPushes;
  };

/** What an act works with. */
export interface ActContext {
  readonly deps: MachineDeps;
  readonly patcher: MachinePatcher;
  readonly observation: Observation;
  readonly signal: AbortSignal;
  /** Records that it has begun, for what takes long. */
  reportStarted(attempt?: Pick<AttemptResult, 'task' | 'message'>): Promise<void>;
}

export interface ActionOutput {
  readonly result: ActionResult;
  readonly next: ReconcileResult;
  /** What was tried, when it is not recorded yet. */
  readonly attempt?: AttemptResult;
  /** The machine has no finalizer of ours any more: there is nothing left to write to. */
  readonly finalizerRemoved?: true;
}

export const callOptions = ({ signal }: ActContext): CallOptions => ({ signal });

export const currentStatus = ({ patcher }: ActContext): MachineStatus => patcher.machine.status ?? {};

/** It is done: look again after that time. */
export const requeue = (afterMs: number): ActionOutput => ({ result: succeeded, next: requeueAfter(afterMs) });

/** What was decided on has changed. */
export const requeueStale: ActionOutput = { result: stale, next: requeueAfter(intervals.conflict) };

/** Where the machine's Secret is. */
export const secretLocation = ({ deps, patcher }: Pick<ActContext, 'deps' | 'patcher'>) => ({
  namespace: deps.options.secretsNamespace,
  machine: patcher.machine.metadata.name,
  uid: patcher.machine.metadata.uid,
});
