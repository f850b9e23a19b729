import { nodeFlags } from '@tartan/tools-build';
import { type MeasuredProcess, startMeasured } from '../measured-process.ts';

export type RunningManager = MeasuredProcess;

/** Runs the manager in its own process as in the image, with only these arguments and variables. Its log goes to a file. */
export const startManager = (
  program: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  log: string,
): Promise<RunningManager> =>
  startMeasured({ program: process.execPath, argv: [...nodeFlags, program, ...argv], env, log });
