import { metricNames } from '@tartan/api';
import { Counter, Gauge, type Registry } from 'prom-client';

/**
 * The gauge counts MacHosts, which do not change while their zone cannot be listed: so it keeps its value and never drops because of a
 * failed list.
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
  // Otherwise it would export 0 before the first check.
  stranded.remove();
  return {
    /** How many Macs are stranded. Undefined: this process does not sweep, so there is no series. */
    stranded: (count: number | undefined): void => (count === undefined ? stranded.remove() : stranded.set(count)),
    reclaimed: (): void => reclaimed.inc(),
  };
};

export type SweepMetrics = ReturnType<typeof createSweepMetrics>;
