import type { Clock } from '@tartan/kube/clock';
import type { Look } from '../../show/look.ts';
import { createVoice } from '../voice.ts';
import { createFrame, sizeOf, type Tty } from './frame.ts';
import { createPlainView } from './plain-view.ts';
import { emptyState, frameMs, type LiveState, render } from './render.ts';
import type { Step, UpView } from './up-view.ts';

export interface LiveViewOptions {
  readonly stdout: Tty;
  readonly look: Look;
  readonly clock: Clock;
}

/** More than any terminal shows. */
const logged = 300;

/**
 * Redraws itself when something has changed, and for the spinner while a step is under way; never more often than eyes can follow.
 * Nobody else may write to the terminal until it is stopped. The cursor comes back even when the process ends without that.
 */
export const createLiveView = ({ stdout, look, clock }: LiveViewOptions): UpView => {
  const frame = createFrame(stdout);
  const after = createPlainView({ stdout, look, clock });
  const { bold, dim, good, bad } = createVoice(stdout, look);
  const began = clock.monotonic();
  const now = (): number => clock.monotonic() - began;
  const above: string[] = [];
  let state: LiveState = emptyState;
  let due: (() => void) | undefined;
  let drawnAt = Number.NEGATIVE_INFINITY;
  let last: string | undefined;

  const draw = (): void => {
    due?.();
    const isMoving = !state.isLast && state.steps.some(({ doneAt }) => doneAt === undefined);
    due = isMoving ? clock.after(frameMs, draw) : undefined;
    drawnAt = now();
    const size = sizeOf(stdout);
    const lines = render(state, { ...size, look, now: drawnAt });
    const picture = JSON.stringify([size, lines]);
    if (picture === last && above.length === 0) return;
    last = picture;
    frame.draw(lines, above.splice(0));
  };
  const drawSoon = (): void => {
    due ??= clock.after(Math.max(0, drawnAt + frameMs - now()), draw);
  };
  const change = (news: Partial<LiveState>): void => {
    if (state.isLast) return;
    state = { ...state, ...news };
    drawSoon();
  };
  const step = (text: string): Step => {
    const at = state.steps.length;
    let isDone = false;
    change({ steps: [...state.steps, { text, doneAt: undefined }] });
    return {
      done: (words = text) => {
        if (isDone) return;
        isDone = true;
        if (state.isLast) return after.step(words).done();
        change({ steps: state.steps.with(at, { text: words, doneAt: now() }) });
      },
    };
  };
  const stop = (): void => {
    if (state.isLast) return;
    state = { ...state, isLast: true };
    draw();
    frame.release();
    stdout.off('resize', drawSoon);
    process.off('exit', frame.release);
  };

  stdout.on('resize', drawSoon);
  process.once('exit', frame.release);
  return {
    bold,
    dim,
    good,
    bad,
    say: (line = '') => {
      if (state.isLast) return after.say(line);
      const lines = line.split('\n').filter((each) => each.trim() !== '');
      if (lines.length > 0) change({ log: [...state.log, ...lines].slice(-logged) });
    },
    print: (line = '') => {
      if (state.isLast) return after.say(line);
      above.push(line);
      drawSoon();
    },
    step: (text) => (state.isLast ? after.step(text) : step(text)),
    progress: (macs) => change({ macs }),
    fleet: (fleet) => change({ fleet }),
    keys: (keys) => change({ keys }),
    stop,
  };
};
