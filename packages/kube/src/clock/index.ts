export { type Clock, microTimestamp, type Random, sleep, systemClock, timestamp, withTimeout } from './clock.ts';
export { type ManualClock, manualClock } from './manual-clock.ts';
