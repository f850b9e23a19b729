import { Readable } from 'node:stream';
import type { Redactor } from '@tartan/kube';
import type { HostConnection } from '../connection/connection.ts';
import type { AnyStep } from '../steps/step.ts';
import { type CutShort, cutShort } from './cut-short.ts';
import type { StepResult } from './host-outcome.ts';
import { shellCommand } from './shell-command.ts';
import { failureOfCode, StepError } from './step-error.ts';
import type { StepRun, StepRunOptions } from './step-run.ts';

export type StepOutcome =
  | {
      readonly kind: 'finished';
      readonly result: StepResult;
      readonly differences: readonly string[];
      /** What differs cannot be mended without its payload. */
      readonly needsPayload: boolean;
    }
  | { readonly kind: 'failed'; readonly error: StepError }
  | CutShort;

/** Runs the script of a step once and says what came of it. Believes nothing but the result line at the very end. */
export const executeStep = async (
  connection: Pick<HostConnection, 'run'>,
  step: AnyStep,
  verb: StepRunOptions['verb'],
  { script, payload }: StepRun,
  redact: Redactor,
  signal?: AbortSignal,
): Promise<StepOutcome> => {
  const command = shellCommand(script, { asRoot: step.unprivileged !== true });
  const outcome = await connection.run(
    {
      command,
      deadline: step.deadline,
      ...(payload === undefined ? {} : { stdin: () => Readable.from([Buffer.from(payload)]) }),
    },
    signal,
  );
  if (outcome.kind === 'command failed') {
    const { code: exitCode, signal: killedBy, stderr } = outcome;
    const failure = failureOfCode(exitCode);
    return {
      kind: 'failed',
      error: new StepError(step, { failure, exitCode, signal: killedBy, said: stderr }, redact),
    };
  }
  if (outcome.kind !== 'done') {
    const cut = cutShort(outcome, step.name);
    return cut.kind === 'connection lost' ? { ...cut, cause: redact.text(cut.cause) } : cut;
  }
  const lines = outcome.stdout.trimEnd().split('\n');
  const result = resultOf(lines.pop() ?? '', verb);
  if (result === undefined) {
    const said = `${outcome.stdout}\n${outcome.stderr}`;
    return { kind: 'failed', error: new StepError(step, { failure: 'no result', exitCode: 0, said }, redact) };
  }
  const differences = lines
    .filter((line) => line.startsWith('differs\t'))
    .map((line) => line.slice('differs\t'.length));
  return {
    kind: 'finished',
    result,
    differences: differences.map((line) => redact.text(line)),
    needsPayload: lines.includes('needs\tpayload'),
  };
};

const results: Readonly<Record<StepRunOptions['verb'], readonly StepResult[]>> = {
  check: ['unchanged', 'different'],
  converge: ['unchanged', 'applied', 'removed', 'deferred'],
};

const resultOf = (line: string, verb: StepRunOptions['verb']): StepResult | undefined =>
  results[verb].find((result) => line === `result\t${result}`);
