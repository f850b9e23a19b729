import { appendFileSync } from 'node:fs';
import type { Fault, Mode, Point } from './settings.ts';

/** Counts the effects of this process, and returns the fault for the one that is to be its last. */
export interface FaultWatch {
  /** Called before each effect. */
  record(name: string, modes?: readonly Mode[]): Mode | undefined;
}

/** Like a power cut: no handler, no `finally`, no flush. This process does nothing after it. */
export const die = (): never => {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('This process is dead');
};

/** Writes each point to the file at once, so that it survives the process. */
export const createFaultWatch = (file: string, fault: Fault | undefined): FaultWatch => {
  const counts = new Map<string, number>();
  return {
    record: (name, modes = ['killed after']) => {
      const nth = (counts.get(name) ?? 0) + 1;
      counts.set(name, nth);
      const point: Point = { name, nth, modes };
      appendFileSync(file, `${JSON.stringify(point)}\n`);
      return fault?.name === name && fault.nth === nth ? fault.mode : undefined;
    },
  };
};
