export { adjustableClock, eventually, fasterClock, settle, testDeadline } from './real-time.ts';
export { numbersFrom, orderedIDs, type Traffic, type VirtualTime, virtualTime } from './virtual-time.ts';
