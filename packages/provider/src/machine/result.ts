import type { ConditionReason } from '@tartan/api';
import type { WorkOutcome } from '../host-work/host-work.ts';

type ReasonOf<Type extends 'Provisioned' | 'Bootstrapped'> = ConditionReason<'ScalewayAppleSiliconMachine', Type>;

/** What came of a decision. */
export type Result =
  /** Said before something that takes long. */
  | { readonly kind: 'under way' }
  | { readonly kind: 'done' }
  /** As many pushes run as may. */
  | { readonly kind: 'no slot' }
  /** A look at the server, right before the act, found that it is not called for any more. */
  | { readonly kind: 'not any more' }
  | { readonly kind: 'worked'; readonly outcome: WorkOutcome }
  /** It was not even tried, or was refused; `message` says why and what to do. */
  | { readonly kind: 'no claim'; readonly reason: ReasonOf<'Provisioned'>; readonly message: string }
  | { readonly kind: 'no bootstrap'; readonly reason: ReasonOf<'Bootstrapped'>; readonly message: string };

export const done: Result = { kind: 'done' };
export const notAnyMore: Result = { kind: 'not any more' };
export const noSlot: Result = { kind: 'no slot' };
