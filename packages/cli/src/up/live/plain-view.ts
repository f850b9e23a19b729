import type { Writable } from 'node:stream';
import type { Clock } from '@tartan/kube/clock';
import type { TextStyle } from '../../output/terminal-text.ts';
import { commandLines, createStyledLog, doneLine, type UpView } from './up-view.ts';

export interface PlainViewOptions {
  readonly stdout: Writable;
  readonly style: TextStyle;
  readonly clock: Clock;
}

/** For a pipe, a log or a file: a line for each finished step. */
export const createPlainView = ({ stdout, style, clock }: PlainViewOptions): UpView => {
  const log = createStyledLog((line) => stdout.write(`${line}\n`), style);
  const began = clock.monotonic();
  return {
    ...log,
    step: (text) => ({
      done: (words = text) => log.writeLine(doneLine(words, clock.monotonic() - began, style)),
    }),
    fleet: () => {},
    podLog: (title, lines) =>
      log.writeLine(['', log.paint('bold', title), ...lines.map((line) => `  ${line}`)].join('\n')),
    commands: (commands) => log.writeLine(['', ...commandLines(commands, style)].join('\n')),
    keys: (text) => log.writeLine(`\n${text}`),
    stop: () => {},
  };
};
