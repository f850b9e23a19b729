import type { ApiResponse } from './handler.ts';

/**
 * Scaleway's refusals, as its SDKs read them (`sdk-client/dist/scw/errors/standard`). The texts of 401 and 403 are those of recorded
 * answers.
 */

const errorResponse = (status: number, type: string, message: string, more: object = {}): ApiResponse => ({
  status,
  body: { type, message, ...more },
});

export const deniedAuthentication = (reason: 'invalid_argument' | 'not_found'): ApiResponse =>
  errorResponse(401, 'denied_authentication', 'authentication is denied', { method: 'api_key', reason });

export const permissionsDenied = (action: string, resource: string): ApiResponse =>
  errorResponse(403, 'permissions_denied', 'insufficient permissions', { details: [{ action, resource }] });

export const notFound = (resource: string, id: string): ApiResponse =>
  errorResponse(404, 'not_found', 'resource is not found', { resource, resource_id: id });

export const invalidArgument = (
  argument: string,
  reason: 'required' | 'format' | 'constraint',
  help_message = '',
): ApiResponse =>
  errorResponse(400, 'invalid_arguments', 'invalid argument(s)', {
    details: [{ argument_name: argument, reason, help_message }],
  });

export const transientState = (resource: string, id: string, state: string): ApiResponse =>
  errorResponse(409, 'transient_state', 'resource is in a transient state', {
    resource,
    resource_id: id,
    current_state: state,
  });

export const locked = (resource: string, id: string): ApiResponse =>
  errorResponse(423, 'locked', 'resource is locked', { resource, resource_id: id });

export const preconditionFailed = (precondition: string, help_message: string): ApiResponse =>
  errorResponse(412, 'precondition_failed', 'precondition failed', { precondition, help_message });

/** The reset is in the body: the SDKs read no header. */
export const tooManyRequests = (quota: number, resetAt: number, now: number): ApiResponse =>
  errorResponse(429, 'too_many_requests', 'too many requests', {
    help_message: 'slow down',
    limit: { quota, window_seconds: 1 },
    reset_seconds: Math.ceil((resetAt - now) / 1000),
    reset_at: new Date(resetAt).toISOString(),
  });

/** The state could not be saved: the change may be lost with this process. */
export const internalError = (): ApiResponse => errorResponse(500, 'internal_error', 'internal error');

export const serviceUnavailable = (): ApiResponse => errorResponse(503, 'service_unavailable', 'service unavailable');
