import { appendFileSync } from 'node:fs';
import type { Fault, Mode, Point } from './settings.ts';

/** Counts the effects of this process, and says which of them is its last. */
export interface FaultWatch {
  /** An effect is about to happen. */
  meet(name: string, modes?: readonly Mode[]): Mode | undefined;
}

/** As the power goes: no handler, no `finally`, no buffer. Nothing of this process happens after it. */
export const die = (): never => {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('This process is dead');
};

/** Points go to the file one by one, so that they outlive the process. */
export const createFaultWatch = (file: string, fault: Fault | undefined): FaultWatch => {
  const counts = new Map<string, number>();
  return {
    meet: (name, modes = ['killed after']) => {
      const nth = (counts.get(name) ?? 0) + 1;
      counts.set(name, nth);
      const point: Point = { name, nth, modes };
      appendFileSync(file, `${JSON.stringify(point)}\n`);
      return fault?.name === name && fault.nth === nth ? fault.mode : undefined;
    },
  };
};
