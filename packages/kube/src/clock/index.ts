export { type Clock, microTimestamp, type Random, systemClock, timestamp } from './clock.ts';
export { type ManualClock, manualClock } from './manual-clock.ts';
export { sleep } from './sleep.ts';
