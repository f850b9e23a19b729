import type { ProcessIdentity, Share } from '@tartan/tart';
import type { Remains } from '../pods/snapshot.ts';

/** One run of a Pod's container. */
export interface Run {
  readonly podUID: string;
  readonly container: string;
  /** 0, and one more with each restart. */
  readonly run: number;
  readonly vm: string;
}

/**
 * The processes of virtual machines, and what they leave behind.
 *
 * tart writes into a file of its own, without us (G14); it is copied into the log of the container line by line, and so is the guest's
 * own log from its status share. An agent that comes back goes on where the last one was.
 */
export interface Runs {
  /** Makes room for what it will write, so that `start` need not: any time before, and safe to repeat. Rejects with a TartError. */
  prepare(run: Run): Promise<void>;
  /** `tart run`. Rejects with a TartError; then nothing runs, and the caller takes the start back. */
  start(run: Run, shares: readonly Share[]): Promise<ProcessIdentity>;
  /** A process that is there already: watches its end and copies its log from now on. Does nothing for one that is watched. */
  follow(run: Run, process: ProcessIdentity): void;
  /**
   * What is known of this run; all of it also from an earlier life of the agent, but for the exit's code and time. Of one that was seen
   * not to be on (`isOn`), and that we started, the exit is waited for: others see a process end a moment before its parent does. Never
   * rejects.
   */
  remains(run: Run, isOn: boolean): Promise<Omit<Remains, 'report'>>;
  /** It never was on: afterwards `remains` says that it was not started. */
  takeBack(run: Run): Promise<void>;
  /** Copies what is left of both logs and ends with them. To be called before anything of the run is thrown away. Safe to repeat. */
  finish(run: Run): Promise<void>;
  /** Nothing more will be written to the log of this run. */
  isFinished(run: Omit<Run, 'vm'>): boolean;
  /** All logs of a Pod. Not there is fine. */
  remove(podUID: string): Promise<void>;
}
