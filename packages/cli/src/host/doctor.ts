import type { Writable } from 'node:stream';
import { checkHost, type CheckOutcome, type StepReport } from '@tartan/host';
import { printable, type TextStyle } from '../output/terminal-text.ts';
import { connectToHost, type Target } from './connect.ts';
import { outcomeText, reportLines, reportRows } from './report-text.ts';
import { readSpecFile } from './spec-file.ts';

export interface DoctorOptions extends Target {
  /** A host specification. Undefined: only the steps of every host are checked. */
  readonly spec?: string;
  readonly output: 'text' | 'tsv' | 'json';
}

/** Exit codes, as of `kubectl diff`. */
const same = 0;
const different = 1;
const unreadable = 2;

/** Compares a host with its specification. Changes nothing. Returns the exit code. */
export const doctor = async (
  options: DoctorOptions,
  out: { readonly stdout: Writable; readonly style: TextStyle },
  signal: AbortSignal,
): Promise<number> => {
  const print = (line: string): void => void out.stdout.write(`${line}\n`);
  const spec = options.spec === undefined ? undefined : await readSpecFile(options.spec);
  const connection = await connectToHost({ ...options, user: spec?.user ?? options.user }, signal);
  try {
    if (options.output === 'tsv') print(['step', 'state', 'stamp', 'difference'].join('\t'));
    const onStep = (report: StepReport): void => {
      if (options.output === 'text') print(reportLines(report, out.style));
      if (options.output === 'tsv') for (const row of reportRows(report)) print(row);
    };
    const outcome = await checkHost(connection, spec ?? { user: options.user }, { onStep, signal });
    return conclude(outcome, connection.hostKey, options, print);
  } finally {
    await connection.close();
  }
};

const conclude = (
  outcome: CheckOutcome,
  hostKey: string,
  { host, output }: DoctorOptions,
  print: (line: string) => void,
): number => {
  if (outcome.kind !== 'checked') {
    const error = outcomeText(outcome);
    print(output === 'json' ? JSON.stringify({ host, hostKey, error }) : error);
    return unreadable;
  }
  const { inventory, objections, steps } = outcome;
  const count = (state: StepReport['state']): number => steps.filter((step) => step.state === state).length;
  if (output === 'json') {
    const { artifacts, ...rest } = inventory;
    const reports = steps.map(({ error, ...report }) => ({ ...report, ...(error && { error: error.message }) }));
    print(
      JSON.stringify(
        { host, hostKey, inventory: { ...rest, artifacts: [...artifacts] }, objections, steps: reports },
        null,
        2,
      ),
    );
  }
  if (output === 'text') {
    print('');
    for (const { what, advice } of objections) print(printable(`Unsuitable host: ${what}. ${advice}`));
    print(
      printable(
        `${host}: macOS ${inventory.macOS}, ${(inventory.freeKiB / 1024 / 1024).toFixed(0)} GiB free, console user ${inventory.consoleUser}, agent release ${inventory.agentRelease ?? 'none'}, host key ${hostKey}`,
      ),
    );
    print(
      count('different') + count('could not look') === 0
        ? `All ${steps.length} steps match.`
        : `${count('different')} of ${steps.length} steps differ, ${count('could not look')} could not be checked. Nothing was changed.`,
    );
  }
  if (count('could not look') > 0) return unreadable;
  return count('different') > 0 || objections.length > 0 ? different : same;
};
