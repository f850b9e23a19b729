import { labels, labelValues, vmStartCondition, vmStartTaint } from '@tartan/api';
import type { Node } from '../controller-deps.ts';

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];

export type Decision =
  | { readonly kind: 'leave' }
  /** The taints as they are to be, all of them: a list of taints is replaced as a whole. */
  | { readonly kind: 'add taint' | 'remove taint'; readonly taints: readonly Taint[] };

const isOurs = ({ key, effect }: Taint): boolean => key === vmStartTaint.key && effect === vmStartTaint.effect;

/**
 * Whether the Node of a Mac bears the taint that keeps Pods off it while it cannot start virtual machines. Pure and total. The agent
 * says so in a condition, as no Node may taint itself. `Unknown` changes nothing: an agent that has just started says that.
 */
export const decide = ({ metadata, spec, status }: Node): Decision => {
  const leave: Decision = { kind: 'leave' };
  const { [labels.os]: os, [labels.runtime]: runtime } = metadata?.labels ?? {};
  const isMac = os === labelValues.os && runtime === labelValues.runtime;
  if (!isMac || metadata?.deletionTimestamp !== undefined) return leave;
  const starts = status?.conditions?.find(({ type }) => type === vmStartCondition)?.status ?? 'True';
  const taints = spec?.taints ?? [];
  const isTainted = taints.some(isOurs);
  if (starts === 'False' && !isTainted) return { kind: 'add taint', taints: [...taints, { ...vmStartTaint }] };
  if (starts === 'True' && isTainted) return { kind: 'remove taint', taints: taints.filter((one) => !isOurs(one)) };
  return leave;
};
