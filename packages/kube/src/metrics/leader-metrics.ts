import { Gauge, type Registry } from 'prom-client';

type Told = (lease: string, leads: boolean, transitions?: number) => void;

/** Whether this process holds the lease of that name, and how often it has changed hands. */
export const createLeaderMetrics = (registry: Registry): Told => {
  const registers = [registry];
  const labelNames = ['name'] as const;
  const status = new Gauge({
    name: 'leader_election_master_status',
    help: '1 while this process holds the lease, else 0',
    labelNames,
    registers,
  });
  // Counted in the Lease itself: a process that is restarted each time it has lost would always begin at nothing.
  const transitions = new Gauge({
    name: 'leader_election_lease_transitions',
    help: 'How often the lease has changed hands since it was made. Told by who holds it, and by no other',
    labelNames,
    registers,
  });
  return (name, leads, count) => {
    status.set({ name }, leads ? 1 : 0);
    if (leads && count !== undefined) transitions.set({ name }, count);
    else transitions.remove({ name });
  };
};
