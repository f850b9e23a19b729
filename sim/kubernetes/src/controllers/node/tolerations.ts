import type { Taint, Toleration } from '../runtime/objects.ts';

/** Operators Lt and Gt exist in the API but are switched off by default in Kubernetes 1.36, so they tolerate nothing. */
export const tolerates = (toleration: Toleration, taint: Taint): boolean => {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  switch (toleration.operator ?? '') {
    case '':
    case 'Equal':
      return (toleration.value ?? '') === (taint.value ?? '');
    case 'Exists':
      return true;
    default:
      return false;
  }
};

const tolerationOf = (tolerations: readonly Toleration[], taint: Taint): Toleration | undefined =>
  tolerations.find((toleration) => tolerates(toleration, taint));

export const isTolerated = (tolerations: readonly Toleration[], taint: Taint): boolean =>
  tolerationOf(tolerations, taint) !== undefined;

export const sameTaint = (a: Taint, b: Taint): boolean => a.key === b.key && a.effect === b.effect;

/**
 * How many seconds a Pod with these tolerations may stay on a Node with these NoExecute taints: 0 not at all, Infinity without limit. For
 * each taint the first matching toleration counts, even if a later one allows more.
 */
export const tolerationTime = (taints: readonly Taint[], tolerations: readonly Toleration[]): number => {
  let seconds = Number.POSITIVE_INFINITY;
  for (const taint of taints) {
    const toleration = tolerationOf(tolerations, taint);
    if (!toleration) return 0;
    seconds = Math.min(seconds, Math.max(0, toleration.tolerationSeconds ?? Number.POSITIVE_INFINITY));
  }
  return seconds;
};
