import type { MachineStatus } from '@tartan/api';
import { type CallOptions, type Outcome, again } from '@tartan/kube';
import type { Haste } from '../haste.ts';
import type { Observation, Recollections } from '../observe.ts';
import type { MachineControllerOptions } from '../options.ts';
import type { PushSlots } from '../push-slots.ts';
import type { Record } from '../record.ts';
import { type Result, notAnyMore } from '../result.ts';
import type { RunningPushes } from '../running-pushes.ts';
import { waits } from '../waits.ts';

export type World = MachineControllerOptions &
  Recollections & { readonly haste: Haste; readonly slots: PushSlots; readonly pushes: RunningPushes };

/** What an act works with. */
export interface Act {
  readonly world: World;
  readonly record: Record;
  readonly observation: Observation;
  readonly signal: AbortSignal;
  /** Tells users that it has begun: for what takes long. */
  announce(): Promise<void>;
}

export interface Acted {
  readonly result: Result;
  readonly next: Outcome;
  /** The machine has no finalizer of ours any more: there is nothing left to write to. */
  readonly parted?: true;
}

export const callOf = ({ signal }: Act): CallOptions => ({ signal });

export const statusIn = ({ record }: Act): MachineStatus => record.machine.status ?? {};

/** What was decided on has changed. */
export const lookAgain: Acted = { result: notAnyMore, next: again(waits.conflict) };

/** Where the machine's Secret is. */
export const secretPlace = ({ world, record }: Pick<Act, 'world' | 'record'>) => ({
  namespace: world.options.secretsNamespace,
  machine: record.machine.metadata.name,
  uid: record.machine.metadata.uid,
});
