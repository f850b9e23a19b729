import { TartError } from '@tartan/tart';
import type { LogFiles } from '../logs/log-files.ts';
import type { Run } from './runs.ts';

/** Folders for the logs of runs that are about to start. */
export interface LogRoom {
  /** Safe to repeat. Rejects with a TartError. */
  make(run: Run): Promise<void>;
  /** The path of its log. Makes room unless that was done. */
  take(run: Run): Promise<string>;
  /** Its room may be gone. */
  forget(podUID: string): void;
}

const keyOf = ({ podUID, container, run }: Run): string => `${podUID}/${container}/${run}`;

export const createLogRoom = (files: LogFiles): LogRoom => {
  const made = new Set<string>();
  const make = async (run: Run): Promise<void> => {
    try {
      await files.prepare(run);
    } catch (cause) {
      const message = `The log of ${run.vm} cannot be written: ${String(cause)}`;
      throw new TartError('other', message, { command: 'run', cause });
    }
    made.add(keyOf(run));
  };
  return {
    make,
    take: async (run) => {
      if (!made.delete(keyOf(run))) await make(run);
      return files.pathOf(run);
    },
    forget: (podUID) => {
      for (const key of made) if (key.startsWith(`${podUID}/`)) made.delete(key);
    },
  };
};
