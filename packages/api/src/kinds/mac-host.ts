import { kindNames } from '../names.ts';
import { ageColumn, defineKind, type ObjectOf } from '../schema/kind.ts';
import { macHostSpec } from './mac-host-spec.ts';
import { macHostStatus } from './mac-host-status.ts';

export const macHost = defineKind({
  names: kindNames.macHost,
  description:
    'One physical Mac, named by the id of its server: what it is, where it is between pool and machine, and who holds it. Lost ones are made again from the names at Scaleway.',
  spec: macHostSpec,
  status: macHostStatus,
  rules: [
    {
      rule: "has(oldSelf.spec.consumerRef) || !has(self.spec.consumerRef) || !has(self.status) || !has(self.status.state) || !(self.status.state in ['releasing', 'quarantined', 'abandoned'])",
      message: 'only a Mac that is neither being released, nor in quarantine, nor abandoned can be claimed',
    },
  ],
  columns: [
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'Type', type: 'string', jsonPath: '.status.type' },
    { name: 'Zone', type: 'string', jsonPath: '.spec.zone' },
    { name: 'OS', type: 'string', jsonPath: '.status.osFamily' },
    { name: 'Held-By', type: 'string', jsonPath: '.status.heldBy' },
    { name: 'Since', type: 'date', jsonPath: '.status.since', description: 'In this state for so long.' },
    { name: 'Quarantine', type: 'string', jsonPath: '.status.quarantine.reason' },
    { name: 'Name', type: 'string', jsonPath: '.status.name', priority: 1 },
    { name: 'IP', type: 'string', jsonPath: '.status.ip', priority: 1 },
    { name: 'Server', type: 'string', jsonPath: '.status.serverStatus', priority: 1 },
    { ...ageColumn, priority: 1 },
  ],
  categories: ['cluster-api'],
  contract: false,
});

export type MacHost = ObjectOf<typeof macHost>;
export type MacHostSpec = MacHost['spec'];
export type MacHostStatus = NonNullable<MacHost['status']>;
