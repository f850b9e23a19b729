import type { Writable } from 'node:stream';
import type { Clock } from '@tartan/kube/clock';
import type { Look } from '../../show/look.ts';
import { lineOf } from '../story.ts';
import { createVoice } from '../voice.ts';
import type { MacProgress } from './mac-progress.ts';
import { doneLine } from './step-line.ts';
import type { UpView } from './up-view.ts';

export interface PlainViewOptions {
  readonly stdout: Writable;
  readonly look: Look;
  readonly clock: Clock;
}

/** For a pipe, a log or a file: a line for each thing that is done, and none for what is only under way. */
export const createPlainView = ({ stdout, look, clock }: PlainViewOptions): UpView => {
  const voice = createVoice(stdout, look);
  const began = clock.monotonic();
  let before: ReadonlyMap<string, MacProgress> = new Map();
  return {
    ...voice,
    print: voice.say,
    step: (text) => {
      let isDone = false;
      return {
        done: (words = text) => {
          if (!isDone) voice.say(doneLine(words, clock.monotonic() - began, look));
          isDone = true;
        },
      };
    },
    progress: (macs) => {
      for (const mac of macs)
        for (const line of newSteps(before.get(mac.machine), mac)) voice.say(lineOf(mac.machine, voice.dim(line)));
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
