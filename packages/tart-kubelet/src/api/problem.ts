/** What a client did wrong, or cannot have now; the text is for them. kubectl shows it for 400, 403 and 500 only. */
export class ApiProblem extends Error {
  readonly code: ProblemCode;
  constructor(code: ProblemCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ApiProblem';
    this.code = code;
  }
}

export type ProblemCode = 400 | 401 | 403 | 404 | 405 | 409 | 500 | 503;

export const badRequest = (message: string): ApiProblem => new ApiProblem(400, message);

/** What a client may read of any error: nothing of the inside of this agent. */
export const problemOf = (error: unknown): ApiProblem =>
  error instanceof ApiProblem
    ? error
    : new ApiProblem(500, 'The agent failed to answer this: its log says why', { cause: error });
