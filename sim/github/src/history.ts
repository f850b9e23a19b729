import type { Clock } from '@tartan/kube/clock';
import type { Happening } from './github.ts';

/** All that happened, in order. */
export interface History {
  readonly all: readonly Happening[];
  note(happening: Omit<Happening, 'at'>): void;
}

export const createHistory = (clock: Clock): History => {
  const all: Happening[] = [];
  return { all, note: (happening) => all.push({ at: clock.now(), ...happening }) };
};
