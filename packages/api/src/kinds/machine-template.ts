import { z } from 'zod';
import { kindNames } from '../names.ts';
import { optional } from '../schema/fields.ts';
import { ageColumn, defineKind, type ObjectOf } from '../schema/kind.ts';
import { immutable, withRules } from '../schema/rule.ts';
import { clonedFields, machineSpec } from './machine-spec.ts';

/** Written by people and charts, so here is the place to say no. Templates that are there already stay as they are. */
const writtenFields = {
  ...clonedFields,
  type: withRules(clonedFields.type, [
    { rule: "self != ''", message: 'type is a type of Mac at Scaleway such as M2-L; leave it out for that one' },
  ]),
  os: withRules(clonedFields.os, [
    {
      rule: "!self.matches('[0-9]')",
      message:
        'os is a release family such as Tahoe, not a version: Scaleway retires the images of versions, and no Mac would match any more',
    },
  ]),
  zone: withRules(clonedFields.zone, [
    { rule: "self.matches('^[a-z]+-[a-z]+-[0-9]+$')", message: 'zone is a zone of Scaleway such as fr-par-1' },
  ]),
};

const stringMap = (description: string) => z.record(z.string(), z.string()).describe(description);

const template = z.object({
  metadata: optional(
    z
      .object({
        labels: optional(stringMap('Labels of the machines.')),
        annotations: optional(stringMap('Annotations of the machines.')),
      })
      .describe('What machines made from this bear.'),
  ),
  spec: z
    .object(writtenFields)
    .describe(machineSpec.description ?? '')
    .prefault({}),
});

export const machineTemplate = defineKind({
  names: kindNames.machineTemplate,
  description:
    'What the machines of a MachineDeployment are made from. It never changes: make another one under another name, and refer to that.',
  spec: withRules(
    z.object({ template: template.describe('What Cluster API copies into each machine.') }).describe('The template.'),
    [
      // Core rolls only when the name of the template changes: an edit would reach some machines and not others.
      immutable(
        'templates do not change, since their machines would not follow: create one under another name and let the MachineDeployment refer to it',
      ),
    ],
  ),
  columns: [
    { name: 'Fleet', type: 'string', jsonPath: '.spec.template.spec.fleetName' },
    { name: 'Type', type: 'string', jsonPath: '.spec.template.spec.type' },
    { name: 'Zone', type: 'string', jsonPath: '.spec.template.spec.zone' },
    { name: 'OS', type: 'string', jsonPath: '.spec.template.spec.os' },
    ageColumn,
  ],
  categories: ['cluster-api'],
  contract: true,
});

export type ScalewayAppleSiliconMachineTemplate = ObjectOf<typeof machineTemplate>;
