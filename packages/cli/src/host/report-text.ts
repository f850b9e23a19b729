import type { HostEvent, HostOutcome, StepReport } from '@tartan/host';
import { megabytes, paint, printable, printableLines, type TextStyle, type Tone } from '../output/terminal-text.ts';

/** One line for an event of the preparation. Undefined: not shown. */
export const eventLine = (event: HostEvent, style: TextStyle): string | undefined => {
  switch (event.kind) {
    case 'step started':
      return undefined;
    case 'artifact started':
      return `  ${paint(style, 'dim', `sending ${event.artifact} (${megabytes(event.size)})`)}`;
    case 'artifact finished':
      return undefined;
    case 'step finished': {
      const [mark, colour, text] = results[event.result];
      const seconds = paint(style, 'dim', `${(event.durationMs / 1000).toFixed(1)} s`);
      const found = event.differences.map((what) => `\n    ${paint(style, 'dim', `was: ${printable(what)}`)}`).join('');
      return `${paint(style, colour, mark)} ${printable(event.title)}  ${paint(style, 'dim', text)} ${seconds}${found}`;
    }
  }
};

type Result = Extract<HostEvent, { kind: 'step finished' }>['result'];

const results: Readonly<Record<Result, readonly [mark: string, tone: Tone, text: string]>> = {
  unchanged: ['✓', 'good', 'unchanged'],
  applied: ['✓', 'good', 'done'],
  removed: ['✓', 'good', 'removed'],
  deferred: ['…', 'warn', 'deferred'],
  different: ['≠', 'warn', 'differs'],
  failed: ['✗', 'bad', 'failed'],
  'cut short': ['✗', 'bad', 'interrupted'],
};

/** What happened, and what to do. */
export const outcomeText = (outcome: Exclude<HostOutcome, { kind: 'converged' }>): string =>
  printableLines(outcomeMessage(outcome), '  ');

const outcomeMessage = (outcome: Exclude<HostOutcome, { kind: 'converged' }>): string => {
  switch (outcome.kind) {
    case 'step failed':
      return outcome.error.message;
    case 'locked':
      return `Another process prepares this host (${outcome.by}). Wait until it has finished, or half an hour if it has died, then run the command again.`;
    case 'unsuitable host':
      return outcome.objections.map(({ what, advice }) => `Unsuitable host: ${what}. ${advice}`).join('\n');
    case 'unreadable host':
      return `The output of the host is not readable: ${outcome.cause}. Check what its login shell prints or runs (.zshenv).`;
    case 'connection lost':
      return `The connection was lost during ${outcome.during}: ${outcome.cause}. Run the command again: it continues.`;
    case 'timed out':
      return `${outcome.during} timed out after ${outcome.after / 1000} s. Run the command again: it continues.`;
    case 'aborted':
      return `Stopped during ${outcome.during}. Run the command again: it continues.`;
  }
};

export const reportLines = (report: StepReport, style: TextStyle): string => {
  const [mark, colour]: readonly [string, Tone] =
    report.state === 'as wanted' ? ['✓', 'good'] : report.state === 'different' ? ['≠', 'warn'] : ['✗', 'bad'];
  const lines = [
    `${paint(style, colour, mark)} ${printable(report.title)}  ${paint(style, 'dim', report.state)}`,
    ...report.differences.map((what) => `    ${printable(what)}`),
    ...(report.error === undefined ? [] : [`    ${printableLines(report.error.message, '    ')}`]),
  ];
  return lines.join('\n');
};

/** For scripts: step, state, stamp and difference; one line per difference. */
export const reportRows = ({ step, state, stamp, differences, error }: StepReport): string[] => {
  const details = (error === undefined ? differences : [error.message]).map(printable);
  return (details.length === 0 ? [''] : details).map((detail) => [step, state, stamp, detail].join('\t'));
};
