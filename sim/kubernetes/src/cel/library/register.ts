import type { Environment, RegisteredFunctionHandler } from '@marcbachmann/cel-js';

/** Adds functions to an environment. None of them waits for anything, so that no rule ever answers with a promise. */
export const functionRegistrar =
  (environment: Environment) =>
  (signature: string, handler: RegisteredFunctionHandler): void => {
    environment.registerFunction(signature, handler, { async: false });
  };
