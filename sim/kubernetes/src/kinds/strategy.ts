import type { Strategy } from '../resource.ts';
import { nameAndAge } from '../table/columns.ts';

/** A kind with nothing special about it: plain data. */
export const plainStrategy: Strategy = {
  hasStatus: false,
  hasGeneration: false,
  unconditionalUpdate: true,
  createOnUpdate: false,
  applyDefaults: () => {},
  prepareForCreate: () => {},
  prepareForUpdate: () => {},
  prepareForStatusUpdate: () => {},
  validate: () => [],
  validateStatus: () => [],
  statusMayChangeMetadata: false,
  gracePeriodSeconds: () => 0,
  graceful: false,
  beforeDelete: () => {},
  holdsDeletion: (object) => (object.metadata.finalizers ?? []).length > 0,
  returnsDeletedObject: false,
  selectableFields: () => ({}),
  columns: nameAndAge,
};
