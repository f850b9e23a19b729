import type { HostEvent, HostOutcome, StepReport } from '@tartan/host';
import { megabytes, paint, printable, printableLines, type TextStyle, type Tone } from '../output/terminal-text.ts';

/** One line for what happens while a host is prepared; none for what is not worth one. */
export const eventLine = (event: HostEvent, style: TextStyle): string | undefined => {
  switch (event.kind) {
    case 'step started':
      return undefined;
    case 'artifact started':
      return `  ${paint(style, 'dim', `sending ${event.artifact} (${megabytes(event.size)})`)}`;
    case 'artifact finished':
      return undefined;
    case 'step finished': {
      const [mark, colour] = resultMarks[event.result];
      const seconds = paint(style, 'dim', `${(event.durationMs / 1000).toFixed(1)} s`);
      const found = event.differences.map((what) => `\n    ${paint(style, 'dim', `was: ${printable(what)}`)}`).join('');
      return `${paint(style, colour, mark)} ${printable(event.title)}  ${paint(style, 'dim', resultTexts[event.result])} ${seconds}${found}`;
    }
  }
};

type Result = Extract<HostEvent, { kind: 'step finished' }>['result'];

const resultMarks: Readonly<Record<Result, readonly [string, Tone]>> = {
  unchanged: ['✓', 'good'],
  applied: ['✓', 'good'],
  removed: ['✓', 'good'],
  deferred: ['…', 'warn'],
  different: ['≠', 'warn'],
  failed: ['✗', 'bad'],
  'cut short': ['✗', 'bad'],
};

const resultTexts: Readonly<Record<Result, string>> = {
  unchanged: 'already so',
  applied: 'done',
  removed: 'removed',
  deferred: 'left for later',
  different: 'differs',
  failed: 'failed',
  'cut short': 'cut short',
};

/** What an outcome that is not `converged` means for a person, and what to do. */
export const outcomeText = (outcome: Exclude<HostOutcome, { kind: 'converged' }>): string =>
  printableLines(outcomeMessage(outcome), '  ');

const outcomeMessage = (outcome: Exclude<HostOutcome, { kind: 'converged' }>): string => {
  switch (outcome.kind) {
    case 'step failed':
      return outcome.error.message;
    case 'locked':
      return `Somebody else prepares this host now (${outcome.by}). Wait for them to finish, or half an hour if they died, and run it again.`;
    case 'unsuitable host':
      return outcome.objections
        .map(({ what, advice }) => `This host cannot be prepared: ${what}. ${advice}`)
        .join('\n');
    case 'unreadable host':
      return `The host answers, but not with what our scripts say: ${outcome.cause}. See what its login shell prints or does (.zshenv).`;
    case 'connection lost':
      return `The connection was lost during ${outcome.during}: ${outcome.cause}. Run it again: it goes on where it was.`;
    case 'timed out':
      return `${outcome.during} took longer than ${outcome.after / 1000} s. Run it again: it goes on where it was.`;
    case 'aborted':
      return `Stopped during ${outcome.during}. Run it again: it goes on where it was.`;
  }
};

/** One step of `tartan doctor`, for people. */
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

/** For scripts: step, state, stamp, what differs; one line per difference. */
export const reportRows = ({ step, state, stamp, differences, error }: StepReport): string[] => {
  const details = (error === undefined ? differences : [error.message]).map(printable);
  return (details.length === 0 ? [''] : details).map((detail) => [step, state, stamp, detail].join('\t'));
};
