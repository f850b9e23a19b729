import type { Writable } from 'node:stream';
import type { Clock } from '@tartan/kube/clock';
import type { TextStyle } from '../../output/terminal-text.ts';
import { logLine } from '../event-log.ts';
import type { MacProgress } from './mac-progress.ts';
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
  let before: ReadonlyMap<string, MacProgress> = new Map();
  return {
    ...log,
    step: (text) => {
      let isDone = false;
      return {
        done: (words = text) => {
          if (!isDone) log.writeLine(doneLine(words, clock.monotonic() - began, style));
          isDone = true;
        },
      };
    },
    progress: (macs) => {
      for (const mac of macs)
        for (const line of newSteps(before.get(mac.machine), mac)) log.writeLine(logLine(mac.machine, log.dim(line)));
      before = new Map(macs.map((mac) => [mac.machine, mac]));
    },
    fleet: () => {},
    podLog: (title, lines) => log.writeLine(['', log.bold(title), ...lines.map((line) => `  ${line}`)].join('\n')),
    commands: (commands) => log.writeLine(['', ...commandLines(commands, style)].join('\n')),
    keys: (text) => log.writeLine(`\n${text}`),
    stop: () => {},
  };
};

/** None for a machine that was up at the start. */
const newSteps = (before: MacProgress | undefined, { steps, isUp }: MacProgress): string[] => {
  if (before === undefined && isUp) return [];
  return steps.flatMap(({ title, done }, at) =>
    done && before?.steps[at]?.done !== true ? [`over SSH ${at + 1}/${steps.length}: ${title}`] : [],
  );
};
