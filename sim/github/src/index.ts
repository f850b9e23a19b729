/** A simulated GitHub, as far as runners need it: Apps, runners, jobs, and faults. */
export type { RunnerRelease } from './runners/releases.ts';
export type {
  CallFault,
  EmbeddedGitHub,
  GitHubFaults,
  GitHubOptions,
  GitHubEvent,
  SimulatedGitHub,
  SimulatedRunner,
} from './github.ts';
export type { JobRecord, JobRequest } from './jobs/jobs.ts';
export { createGitHub } from './create-github.ts';
export { startGitHub } from './start-github.ts';
export { type FakeRunnerOptions, runFakeRunner } from './actions/fake-runner.ts';
