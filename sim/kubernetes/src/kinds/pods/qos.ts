import type { KubeObject } from '../../object.ts';
import { addQuantities, compareQuantities } from '../../quantity.ts';
import { type Fields, fieldsOf, objectsOf, textsOf } from '../fields.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

/** Only these decide, and only when there is some of it. */
const counted = (amounts: unknown): [string, string][] =>
  Object.entries(textsOf(amounts)).filter(
    ([name, amount]) => (name === 'cpu' || name === 'memory') && compareQuantities(amount, '0') > 0,
  );

/** How a Pod is treated when its node runs short: by what it asks for and what it may use. */
export const qosClassOf = (pod: KubeObject): QosClass => {
  const spec = fieldsOf(pod['spec']);
  const whole = fieldsOf(spec['resources']);
  const perContainer = [...objectsOf(spec['initContainers']), ...objectsOf(spec['containers'])].map((container) =>
    fieldsOf(container['resources']),
  );
  const parts: Fields[] = Object.keys(whole).length > 0 ? [whole] : perContainer;
  const requests: Record<string, string> = {};
  const limits: Record<string, string> = {};
  let limited = true;
  for (const resources of parts) {
    for (const [name, amount] of counted(resources['requests']))
      requests[name] = addQuantities(requests[name] ?? '0', amount);
    const found = counted(resources['limits']);
    for (const [name, amount] of found) limits[name] = addQuantities(limits[name] ?? '0', amount);
    limited &&= found.length === 2;
  }
  const names = Object.keys(requests);
  if (names.length === 0 && Object.keys(limits).length === 0) return 'BestEffort';
  const equal = names.every((name) => compareQuantities(requests[name] ?? '0', limits[name] ?? '0') === 0);
  return limited && equal && names.length === Object.keys(limits).length ? 'Guaranteed' : 'Burstable';
};
