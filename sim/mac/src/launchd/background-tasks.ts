import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Machine } from '../machine.ts';
import { replaceFile } from '../replace-file.ts';

/**
 * Background Task Management: after many registrations of one label macOS stops honouring its KeepAlive (INC-09).
 * How many is not documented; the number is an option of launchd, and the count is kept on the disk, so that only a reinstall resets it.
 */
export interface BackgroundTasks {
  register(label: string): void;
  /** Whether its process is started again after it ended. */
  honoursKeepAlive(label: string): boolean;
}

const file = '/var/db/com.apple.backgroundtaskmanagement/registrations.json';

export const createBackgroundTasks = (machine: Machine, cap: number): BackgroundTasks => {
  const read = (): Record<string, number> => {
    try {
      return JSON.parse(readFileSync(machine.path(file), 'utf8')) as Record<string, number>;
    } catch {
      return {};
    }
  };
  return {
    register: (label) => {
      const counts = read();
      mkdirSync(dirname(machine.path(file)), { recursive: true });
      replaceFile(machine.path(file), JSON.stringify({ ...counts, [label]: (counts[label] ?? 0) + 1 }));
    },
    honoursKeepAlive: (label) => (read()[label] ?? 0) <= cap,
  };
};
