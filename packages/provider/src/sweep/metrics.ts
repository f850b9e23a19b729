import { metricNames } from '@tartan/api';
import { Counter, Gauge, type Registry } from 'prom-client';

export interface SweepMetrics {
  /** How many Macs are stranded. Undefined: this process does not sweep, so it does not say. */
  stranded(count: number | undefined): void;
  reclaimed(): void;
}

/**
 * The gauge counts MacHosts, which stay as they are while their zone cannot be listed: it keeps its value then, and never tells that all
 * is well because nobody could look.
 */
export const createSweepMetrics = (registry: Registry): SweepMetrics => {
  const stranded = new Gauge({
    name: metricNames.orphanServers,
    help: 'Macs that are in no pool and that no machine knows',
    registers: [registry],
  });
  const reclaimed = new Counter({
    name: metricNames.orphanServersReclaimed,
    help: 'Stranded Macs that were sent back to the pool',
    registers: [registry],
  });
  // Without this it would say 0 before anybody has looked.
  stranded.remove();
  return {
    stranded: (count) => (count === undefined ? stranded.remove() : stranded.set(count)),
    reclaimed: () => reclaimed.inc(),
  };
};
