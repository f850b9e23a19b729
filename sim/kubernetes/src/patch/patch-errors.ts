import { ApiError, badRequest } from '../errors/api-error.ts';
import { invalid } from '../errors/field-errors.ts';

/** A patch that cannot be applied to this object. The real server keeps the why to itself. */
export const invalidPatch = (): ApiError =>
  new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

/** Faults in strategic merge patches that the real server did not foresee: a 500 without a reason. */
export const unexpectedPatch = (message: string): ApiError => new ApiError(500, '', message);

/** The body is JSON, but not a patch. */
export const malformedPatch = (message: string): ApiError => badRequest(`error decoding patch: ${message}`);

/** The patch could be applied, but what came out is no object of its kind. Names no object: the real server has none by then. */
export const undecodableResult = (shown: string, why: string): ApiError => {
  const cause = invalid('patch', shown, why);
  return new ApiError(422, 'Invalid', ` "" is invalid: ${cause.field}: ${cause.message}`, {
    causes: [{ reason: cause.reason, message: cause.message, field: cause.field }],
  });
};
