import { kindNames } from '../names.ts';
import { ageColumn, defineKind, fromCondition, type ObjectOf } from '../schema/kind.ts';
import { machineSpec } from './machine-spec.ts';
import { machineStatus } from './machine-status.ts';

export const machine = defineKind({
  names: kindNames.machine,
  description:
    'A Mac mini at Scaleway that is, or shall be, the Node of a Cluster API Machine. It is claimed from a pool of servers, made ready over SSH, and goes back wiped.',
  spec: machineSpec.prefault({}),
  status: machineStatus,
  rules: [
    {
      // The field's own rule is not asked when the field goes away.
      rule: 'has(self.spec.providerID) || !has(oldSelf.spec.providerID) || !has(self.status) || !has(self.status.initialization) || !has(self.status.initialization.provisioned) || !self.status.initialization.provisioned',
      message: 'spec.providerID of a provisioned machine stays: its Node is bound by it. Delete the machine instead',
    },
  ],
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Ready', type: 'boolean', jsonPath: '.status.ready' },
    { name: 'Fleet', type: 'string', jsonPath: '.spec.fleetName' },
    { name: 'Server', type: 'string', jsonPath: '.status.serverID' },
    { name: 'Reason', type: 'string', jsonPath: fromCondition('Ready', 'reason') },
    ageColumn,
    { name: 'ProviderID', type: 'string', jsonPath: '.spec.providerID', priority: 1 },
    { name: 'Config', type: 'string', jsonPath: '.status.hostConfigHash', priority: 1 },
    { name: 'Message', type: 'string', jsonPath: fromCondition('Ready', 'message'), priority: 1 },
  ],
  categories: ['cluster-api'],
  contract: true,
});

export type ScalewayAppleSiliconMachine = ObjectOf<typeof machine>;
export type MachineSpec = ScalewayAppleSiliconMachine['spec'];
export type MachineStatus = NonNullable<ScalewayAppleSiliconMachine['status']>;
