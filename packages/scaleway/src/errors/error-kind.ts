import type { ScalewayErrorKind } from '../scaleway-error.ts';

/**
 * What a refusal means, by the type that its body names, else by its status. The type first: a quota is refused with 403 too, and is no
 * missing permission; a transient state comes with more than one status.
 */
export const errorKind = (status: number, type: string | undefined): ScalewayErrorKind => {
  if (status >= 500 && status <= 599) return 'unavailable';
  if (status < 400 || status > 599) return 'garbled';
  return (type === undefined ? undefined : kindOfType.get(type)) ?? kindOfStatus.get(status) ?? 'invalid';
};

const kindOfType: ReadonlyMap<string, ScalewayErrorKind> = new Map([
  ['denied_authentication', 'unauthorized'],
  ['permissions_denied', 'denied'],
  ['not_found', 'not found'],
  ['unknown_resource', 'not found'],
  ['expired', 'not found'],
  ['transient_state', 'transient state'],
  ['locked', 'transient state'],
  ['too_many_requests', 'rate limited'],
  ['quotas_exceeded', 'invalid'],
  ['out_of_stock', 'invalid'],
  ['invalid_arguments', 'invalid'],
  ['invalid_request_error', 'invalid'],
  ['precondition_failed', 'invalid'],
  ['already_exists', 'invalid'],
]);

const kindOfStatus: ReadonlyMap<number, ScalewayErrorKind> = new Map([
  [401, 'unauthorized'],
  [403, 'denied'],
  [404, 'not found'],
  [408, 'unavailable'],
  [410, 'not found'],
  [423, 'transient state'],
  [429, 'rate limited'],
]);
