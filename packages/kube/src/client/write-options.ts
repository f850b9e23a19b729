import type { DeleteOptions, WriteOptions } from './client.ts';
import type { Query } from './path.ts';

/** How the options of a write stand on the wire. */

export const writeQuery = ({ dryRun, fieldValidation = 'Strict' }: WriteOptions): Query => ({
  fieldValidation,
  dryRun: dryRun === true ? 'All' : undefined,
});

export const deleteBody = (options: DeleteOptions): object => {
  const { gracePeriodSeconds, propagationPolicy, preconditions, dryRun } = options;
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(dryRun === true ? { dryRun: ['All'] } : {}),
  };
};
