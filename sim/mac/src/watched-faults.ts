import { type Faults, noFaults } from './faults.ts';

/** Faults that tell when one of them is changed. */
export const watchedFaults = (changed: (fault: keyof Faults) => void): Faults =>
  new Proxy(noFaults(), {
    set: (faults, fault, value) => {
      const done = Reflect.set(faults, fault, value);
      changed(fault as keyof Faults);
      return done;
    },
  });
