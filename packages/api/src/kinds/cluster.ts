import { z } from 'zod';
import { kindNames } from '../names.ts';
import { conditions, flag, requiredText, observedGeneration } from '../schema/fields.ts';
import { ageColumn, column, defineKind, conditionPath, type ObjectOf } from '../schema/kind.ts';

const controlPlaneEndpoint = z.object({
  host: requiredText('Name or address.', 512),
  port: z.int().min(1).max(65_535).meta({ description: 'The port.', format: 'int32' }),
});

export const cluster = defineKind({
  names: kindNames.cluster,
  description:
    'The infrastructure of a Cluster whose workers are Macs. There is nothing to make: the control plane lives elsewhere, so it is provisioned at once.',
  spec: z
    .object({
      // Core accepts one with empty members, so it is either complete or absent.
      controlPlaneEndpoint: controlPlaneEndpoint.describe(
        'Where the API server is. Leave it out: nothing here reads it.',
      ),
    })
    .exactPartial()
    .describe('What is wanted.')
    .prefault({}),
  status: z
    .object({
      ready: flag('Always true once seen. For managers of contract v1beta1.'),
      initialization: z
        .object({ provisioned: flag('Always true once seen.') })
        .exactPartial()
        .describe('What Cluster API waits for, by contract v1beta2.'),
      conditions: conditions(),
      observedGeneration: observedGeneration(),
    })
    .exactPartial()
    .describe('What is known of the cluster.'),
  columns: [
    column('Ready', conditionPath('Ready', 'status')),
    column('Endpoint', '.spec.controlPlaneEndpoint.host', { priority: 1 }),
    ageColumn,
  ],
  categories: ['cluster-api'],
  contract: true,
});

export type ScalewayAppleSiliconCluster = ObjectOf<typeof cluster>;
