/** The wire format: custom resources, names, and every text that users read in conditions and events. */

export * from './names.ts';
export { goldenHash, goldenLabelOf } from './golden-label.ts';
export * from './provider-id.ts';

// The kinds.
export * from './kinds/cluster.ts';
export * from './kinds/external-control-plane.ts';
export { kinds } from './kinds/index.ts';
export * from './kinds/mac-fleet.ts';
export * from './kinds/mac-host.ts';
export * from './kinds/machine.ts';
export * from './kinds/runner-pool.ts';
export type { CustomResource, Kind, ObjectOf } from './schema/kind.ts';

// Conditions, events and states.
export * from './reasons/conditions.ts';
export type { ConditionDefinition } from './reasons/capi-conditions.ts';
export * from './reasons/events.ts';
export * from './reasons/states.ts';
