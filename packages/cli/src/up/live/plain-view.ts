import type { Writable } from 'node:stream';
import type { Clock } from '@tartan/kube/clock';
import type { TextStyle } from '../../output/terminal-text.ts';
import { logLine } from '../event-log.ts';
import type { MacProgress } from './mac-progress.ts';
import { createStyledLog, doneLine, type UpView } from './up-view.ts';

export interface PlainViewOptions {
  readonly stdout: Writable;
  readonly style: TextStyle;
  readonly clock: Clock;
}

/** For a pipe, a log or a file: a line for each thing that is done, and none for what is only under way. */
export const createPlainView = ({ stdout, style, clock }: PlainViewOptions): UpView => {
  const log = createStyledLog(stdout, style);
  const began = clock.monotonic();
  let before: ReadonlyMap<string, MacProgress> = new Map();
  return {
    ...log,
    print: log.writeLine,
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
    keys: () => {},
    stop: () => {},
  };
};

/** Of a machine that is up when it is first seen nobody wants to hear how it came to be so. */
const newSteps = (before: MacProgress | undefined, { steps, isUp }: MacProgress): string[] => {
  if (before === undefined && isUp) return [];
  return steps.flatMap(({ title, done }, at) =>
    done && before?.steps[at]?.done !== true ? [`over SSH ${at + 1}/${steps.length}: ${title}`] : [],
  );
};
