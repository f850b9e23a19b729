import type { Preparation } from '../spec/host-spec.ts';
import type { Step } from './step.ts';

/**
 * Whatever could put the Mac to sleep, lock its screen, log its user out or restart it by itself is off: each ends the console session,
 * and with it all virtual machines (I-03). As early as it can be: a mini that nobody uses sleeps after one minute (I-08).
 */
export const power: Step<object, Preparation> = {
  name: 'power',
  title: 'keep the Mac awake, logged in and on its version of macOS',
  deadline: 60_000,
  intent: () => ({}),
  environment: () => ({}),
};
