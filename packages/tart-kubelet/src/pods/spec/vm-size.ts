import type { Pod } from '../snapshot.ts';

/** CPU and memory of a VM; absent values stay as in the image. */
export interface VmSize {
  readonly cpu?: number;
  readonly memoryMb?: number;
}

const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** Parses a Kubernetes quantity; `undefined` if invalid. */
export const parseQuantity = (text: string | number | undefined): number | undefined => {
  const [, digits, suffix = ''] = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(`${text}`) ?? [];
  const factor = Object.hasOwn(factors, suffix) ? factors[suffix] : undefined;
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor;
};

const mebibyte = 2 ** 20;

/**
 * Limits before requests, per resource. Fractions of a CPU are cut off: a guest has whole ones, and the scheduler reserved no more than
 * requested.
 */
export const vmSizeOf = (container: NonNullable<Pod['spec']>['containers'][number]): VmSize => {
  const { limits, requests } = container.resources ?? {};
  const requested = (name: string): number => parseQuantity(limits?.[name] ?? requests?.[name]) ?? 0;
  // Rounds to thousandths first: a floating-point error must not cost a CPU.
  const cpu = Math.floor(Math.round(requested('cpu') * 1000) / 1000);
  const memoryMb = Math.floor(requested('memory') / mebibyte);
  return { ...(cpu > 0 && { cpu }), ...(memoryMb > 0 && { memoryMb }) };
};
