import { metricNames } from '@tartan/api';
import { Counter, type Registry } from 'prom-client';

/** Counts lists that failed: while it grows, what MacHosts of that zone say is old (G-18). */
export const createZoneListErrors = (registry: Registry): ((zone: string) => void) => {
  const counter = new Counter({
    name: metricNames.zoneListErrors,
    help: 'Lists of the servers of a zone that Scaleway did not answer or refused',
    labelNames: ['zone'],
    registers: [registry],
  });
  return (zone) => counter.inc({ zone });
};
