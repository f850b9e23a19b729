import type { Environment, RegisteredFunctionHandler } from '@marcbachmann/cel-js';

/** Adds functions to an environment. All are synchronous, so no rule returns a promise. */
export const functionRegistrar =
  (environment: Environment) =>
  (signature: string, handler: RegisteredFunctionHandler): void => {
    environment.registerFunction(signature, handler, { async: false });
  };
