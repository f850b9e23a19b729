import { badRequest, invalidObject } from '../errors/api-error.ts';
import { type Cause, invalid, notSupported } from '../errors/field-errors.ts';
import { isObject, type Json } from '../object.ts';
import type { DeleteOptions } from '../store/loopback-client.ts';

const subject = { group: 'meta.k8s.io', plural: '', kind: 'DeleteOptions' };
const policies = ['Foreground', 'Background', 'Orphan'] as const;

/** `dryRun=All`, the only valid value. */
export const isDryRun = (values: readonly unknown[], kind: string): boolean => {
  const present = values.filter((value) => value !== '');
  const odd = present.filter((value) => value !== 'All');
  if (odd.length > 0) {
    throw invalidObject({ ...subject, kind }, '', [notSupported('dryRun', present as string[], ['All'])]);
  }
  return present.length > 0;
};

const fromQuery = (query: URLSearchParams): Record<string, unknown> => ({
  ...(query.has('gracePeriodSeconds') ? { gracePeriodSeconds: Number(query.get('gracePeriodSeconds')) } : {}),
  ...(query.has('propagationPolicy') ? { propagationPolicy: query.get('propagationPolicy') } : {}),
  ...(query.has('orphanDependents') ? { orphanDependents: query.get('orphanDependents') === 'true' } : {}),
  ...(query.has('dryRun') ? { dryRun: query.getAll('dryRun') } : {}),
});

const text = (value: unknown): value is string => typeof value === 'string';

/** The options of a delete, from its body or, without a body, from its query. */
export const parseDeleteOptions = (
  body: Record<string, unknown> | undefined,
  query: URLSearchParams,
): DeleteOptions => {
  const raw = body ?? fromQuery(query);
  const causes: Cause[] = [];
  const options: DeleteOptions = {};
  const { gracePeriodSeconds: grace, propagationPolicy: policy, orphanDependents, preconditions, dryRun } = raw;
  if (grace !== undefined && grace !== null) {
    if (!Number.isInteger(grace))
      throw badRequest(`gracePeriodSeconds must be a whole number, not ${JSON.stringify(grace)}`);
    options.gracePeriodSeconds = Number(grace);
  }
  if (policy !== undefined && policy !== null) {
    const known = policies.find((entry) => entry === policy);
    if (known) options.propagationPolicy = known;
    else causes.push(notSupported('propagationPolicy', policy as Json, [...policies, 'nil']));
    if (orphanDependents !== undefined && orphanDependents !== null) {
      causes.push(
        invalid('propagationPolicy', policy as Json, 'orphanDependents and deletionPropagation cannot be both set'),
      );
    }
  } else if (typeof orphanDependents === 'boolean') {
    options.propagationPolicy = orphanDependents ? 'Orphan' : 'Background';
  }
  if (causes.length > 0) throw invalidObject(subject, '', causes);
  if (isObject(preconditions)) {
    const { uid, resourceVersion } = preconditions;
    options.preconditions = { ...(text(uid) ? { uid } : {}), ...(text(resourceVersion) ? { resourceVersion } : {}) };
  }
  const inBody = Array.isArray(dryRun) ? dryRun : [];
  options.dryRun = isDryRun([...inBody, ...query.getAll('dryRun')], 'DeleteOptions');
  return options;
};
