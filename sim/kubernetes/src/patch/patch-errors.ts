import { ApiError, badRequest } from '../errors/api-error.ts';
import { invalid } from '../errors/field-errors.ts';

/** A patch that cannot be applied to this object. The real server does not say why. */
export const invalidPatch = (): ApiError =>
  new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

/** Unexpected errors of strategic merge patches in the real server: a 500 without a reason. */
export const unexpectedPatch = (message: string): ApiError => new ApiError(500, '', message);

/** The body is JSON, but not a patch. */
export const malformedPatch = (message: string): ApiError => badRequest(`error decoding patch: ${message}`);

/** The patch was applied, but the result is not an object of its kind. The real server does not name the object. */
export const undecodableResult = (shown: string, why: string): ApiError => {
  const cause = invalid('patch', shown, why);
  return new ApiError(422, 'Invalid', ` "" is invalid: ${cause.field}: ${cause.message}`, {
    causes: [{ reason: cause.reason, message: cause.message, field: cause.field }],
  });
};
