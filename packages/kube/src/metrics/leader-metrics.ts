import { Gauge, type Registry } from 'prom-client';

/** Whether this process holds the lease of that name. */
export const createLeaderMetrics = (registry: Registry): ((lease: string, leads: boolean) => void) => {
  const status = new Gauge({
    name: 'leader_election_master_status',
    help: '1 while this process holds the lease, else 0',
    labelNames: ['name'],
    registers: [registry],
  });
  return (name, leads) => status.set({ name }, leads ? 1 : 0);
};
