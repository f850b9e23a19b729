import type { Page } from '../../show/view.ts';
import type { Voice } from '../voice.ts';
import type { MacProgress } from './mac-progress.ts';

/** What `tartan up` shows: redrawn in place on a terminal, line by line elsewhere. */
export interface UpView extends Voice {
  /** Above everything else, and whole however long it is: for what people copy. Elsewhere a line like any other. */
  print(line?: string): void;
  /** Something has begun. */
  step(text: string): Step;
  /** How far each machine is; all of them, each time. */
  progress(macs: readonly MacProgress[]): void;
  /** Machines and Macs, as `tartan fleet` shows them. */
  fleet(page: Page): void;
  /** What people can do now, at the very end; lines are parted by `\n`. Only where they stay in sight. */
  keys(text: string): void;
  /** What was drawn last stays. Whatever is said from then on is written as plain lines. May be called twice. */
  stop(): void;
}

export interface Step {
  /** It is there, in other words if told. Only the first call counts. */
  done(text?: string): void;
}
