import type { Pod, Quantities } from '../shapes.ts';
import { readQuantity } from '../../quantity.ts';

/** Amounts by resource name, in billionths. */
export type Amounts = Map<string, bigint>;

export const amountsOf = (quantities: Quantities | undefined): Amounts =>
  new Map(Object.entries(quantities ?? {}).map(([name, value]) => [name, readQuantity(String(value))?.nanos ?? 0n]));

export const addTo = (sum: Amounts, amounts: Amounts): void => {
  for (const [name, amount] of amounts) sum.set(name, (sum.get(name) ?? 0n) + amount);
};

const raiseTo = (peak: Amounts, amounts: Amounts): void => {
  for (const [name, amount] of amounts) if (amount > (peak.get(name) ?? 0n)) peak.set(name, amount);
};

const isPodLevel = (name: string): boolean => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');

/**
 * What a Pod needs of a Node. Containers run at once, init containers one after the other before them, but for sidecars
 * (init containers that restart always), which stay. Requests of the Pod itself stand in for those of its containers.
 */
export const podRequests = ({ spec }: Pod): Amounts => {
  const total: Amounts = new Map();
  for (const { resources } of spec.containers ?? []) addTo(total, amountsOf(resources?.requests));

  const sidecars: Amounts = new Map();
  const peak: Amounts = new Map();
  for (const { resources, restartPolicy } of spec.initContainers ?? []) {
    const own = amountsOf(resources?.requests);
    if (restartPolicy === 'Always') {
      addTo(total, own);
      addTo(sidecars, own);
      raiseTo(peak, sidecars);
    } else {
      addTo(own, sidecars);
      raiseTo(peak, own);
    }
  }
  raiseTo(total, peak);

  for (const [name, amount] of amountsOf(spec.resources?.requests)) if (isPodLevel(name)) total.set(name, amount);
  addTo(total, amountsOf(spec.overhead));
  return total;
};
