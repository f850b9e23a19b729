import { z } from 'zod';
import { dated, nullable } from '../show/schema.ts';

const vm = z
  .object({
    namespace: z.string(),
    name: z.string(),
    phase: z.string().describe('Of the Pod.'),
    waiting: nullable(z.string(), 'What it waits for, in the word of its agent.'),
  })
  .describe('A Pod that is, or becomes, a virtual machine.');

const mac = z.object({
  namespace: nullable(z.string(), 'Of the machine.'),
  machine: nullable(z.string(), 'A ScalewayAppleSiliconMachine.'),
  fleet: nullable(z.string(), 'The MacFleet it rolls with.'),
  phase: nullable(z.string(), 'Of the machine.'),
  ready: z.boolean().describe('The machine says that its Node is Ready, on a Mac that runs.'),
  reason: nullable(z.string(), 'What keeps the machine from being Ready or up to date: the reason of a condition.'),
  message: nullable(z.string(), 'The same in words.'),
  upToDate: nullable(z.boolean(), 'The Mac has what it shall have.'),
  host: nullable(z.string(), 'The MacHost.'),
  serverName: nullable(z.string(), 'Its name at Scaleway.'),
  type: nullable(z.string()),
  zone: nullable(z.string()),
  os: nullable(z.string(), 'Release family of macOS.'),
  state: nullable(z.string(), 'Of the MacHost: pool, held, releasing, quarantined or stranded.'),
  since: nullable(z.string(), 'Since when it is in that state.'),
  node: nullable(z.string()),
  nodeReady: nullable(z.enum(['True', 'False', 'Unknown'])),
  cordoned: nullable(z.boolean(), 'No Pod comes to the Node.'),
  agent: nullable(z.string(), 'Version of the agent.'),
  slots: nullable(z.number(), 'Virtual machines that it takes at a time.'),
  vms: nullable(z.array(vm), 'null: Pods may not be read.'),
});

export const fleetDocument = dated('tartan.fleet/v1', {
  macs: z.array(mac).describe('Machines first, then Macs without one, then Nodes without either.'),
});

export type FleetDocument = z.infer<typeof fleetDocument>;
export type MacRow = z.infer<typeof mac>;
