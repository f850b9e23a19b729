import type { Strategy } from '../resource.ts';
import { validateKindMetadataUpdate, validateMetadata } from './metadata.ts';
import { plainStrategy } from './strategy.ts';

const resource = { group: '', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true };

export const serviceAccountStrategy: Strategy = {
  ...plainStrategy,
  returnsDeletedObject: true,
  validate: (account, old) =>
    old ? [...validateKindMetadataUpdate(account, old, resource), ...validateMetadata(account, resource)] : [],
};
