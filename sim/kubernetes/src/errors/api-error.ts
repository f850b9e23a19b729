import type { Cause } from './field-errors.ts';

/** The object in error texts: `pods "mac-1" not found`, `deployments.apps "x" not found`. */
export interface Subject {
  group: string;
  plural: string;
  kind: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: { reason?: string; message?: string; field?: string }[];
  retryAfterSeconds?: number;
}

/** A `Status` on the wire, for failures and for a successful delete. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: { resourceVersion?: string; continue?: string };
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

/** The error type of the embedded API server. Its status is the response that the client reads. */
export class ApiError extends Error {
  readonly status: Status;
  readonly code: number;
  constructor(
    code: number,
    reason: string,
    message: string,
    details?: StatusDetails,
    metadata: Status['metadata'] = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata,
      status: 'Failure',
      message,
      // Unexpected errors of the real server are 500s without a reason.
      ...(reason === '' ? {} : { reason }),
      ...(details ? { details } : {}),
      code,
    };
  }
}

const qualified = (subject: Subject): string =>
  subject.group === '' ? subject.plural : `${subject.plural}.${subject.group}`;

const named = (subject: Subject, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(subject.group === '' ? {} : { group: subject.group }),
  kind: subject.plural,
});

export const notFound = (subject: Subject, name: string): ApiError =>
  new ApiError(404, 'NotFound', `${qualified(subject)} "${name}" not found`, named(subject, name));

/** No such path, or a kind that is not served. */
export const pathNotFound = (): ApiError =>
  new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});

export const alreadyExists = (subject: Subject, name: string, beingDeleted = false): ApiError =>
  new ApiError(
    409,
    'AlreadyExists',
    `${beingDeleted ? 'object is being deleted: ' : ''}${qualified(subject)} "${name}" already exists`,
    named(subject, name),
  );

export const conflict = (subject: Subject, name: string, why: string): ApiError =>
  new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(subject)} "${name}": ${why}`,
    named(subject, name),
  );

export const resourceVersionConflict = (subject: Subject, name: string): ApiError =>
  conflict(
    subject,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );

export const invalidObject = (subject: Subject, name: string, causes: readonly Cause[]): ApiError => {
  const kind = subject.group === '' ? subject.kind : `${subject.kind}.${subject.group}`;
  const texts = [...new Set(causes.map((cause) => `${cause.field}: ${cause.message}`))];
  return new ApiError(
    422,
    'Invalid',
    `${kind} "${name}" is invalid: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`,
    {
      ...(name === '' ? {} : { name }),
      ...(subject.group === '' ? {} : { group: subject.group }),
      kind: subject.kind,
      causes: causes.map(({ reason, message, field }) => ({ reason, message, field })),
    },
  );
};

export const badRequest = (message: string): ApiError => new ApiError(400, 'BadRequest', message);

export const forbiddenTo = (subject: Subject, name: string, why: string, causes?: StatusDetails['causes']): ApiError =>
  new ApiError(403, 'Forbidden', `${qualified(subject)} "${name}" is forbidden: ${why}`, {
    ...named(subject, name),
    ...(causes ? { causes } : {}),
  });

export const unauthorized = (): ApiError => new ApiError(401, 'Unauthorized', 'Unauthorized');

export const unsupportedMediaType = (message: string): ApiError => new ApiError(415, 'UnsupportedMediaType', message);

export const notAcceptable = (offered: readonly string[]): ApiError =>
  new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${offered.join(', ')}`);

export const tooLarge = (message: string): ApiError => new ApiError(413, 'RequestEntityTooLarge', message);

export const expired = (message: string, metadata: Status['metadata'] = {}): ApiError =>
  new ApiError(410, 'Expired', message, undefined, metadata);

export const internalError = (message: string): ApiError =>
  new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });

/** A failure that the real server gives no reason for. */
export const errorWithoutReason = (message: string): ApiError => new ApiError(500, '', message);

/** The path exists, but not with this method. */
export const methodNotAllowed = (): ApiError =>
  new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

export const serviceUnavailable = (message: string): ApiError => new ApiError(503, 'ServiceUnavailable', message);
