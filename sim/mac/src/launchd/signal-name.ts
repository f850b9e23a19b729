import { constants } from 'node:os';

const signals = Object.entries(constants.signals) as readonly (readonly [NodeJS.Signals, number])[];

/** `TERM`, `SIGTERM`, `term` and `15` are the same. */
export const signalOf = (text: string): NodeJS.Signals | undefined => {
  const name = text.toUpperCase().replace(/^SIG/, '');
  return signals.find(([signal, number]) => signal === `SIG${name}` || String(number) === name)?.[0];
};
