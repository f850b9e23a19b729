export { type Durations, usualDurations } from './durations.ts';
export { createLeaderElection, type ElectionOptions, type LeaderElection } from './election.ts';
export { type Gate, NotLeadingError } from './gate.ts';
export { openGate } from './open-gate.ts';
export type { Lead } from './term.ts';
