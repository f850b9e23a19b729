import { metricNames } from '@tartan/api';
import { Counter, Gauge, type Registry } from 'prom-client';

/**
 * The gauge counts MacHosts, which stay as they are while their zone cannot be listed: it keeps its value then, and never tells that all
 * is well because nobody could look.
 */
export const createSweepMetrics = (registry: Registry) => {
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
    /** How many Macs are stranded. Undefined: this process does not sweep, so it does not say. */
    stranded: (count: number | undefined): void => (count === undefined ? stranded.remove() : stranded.set(count)),
    reclaimed: (): void => reclaimed.inc(),
  };
};

export type SweepMetrics = ReturnType<typeof createSweepMetrics>;
