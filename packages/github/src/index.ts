/** Registers, reads and removes runners at GitHub as a GitHub App. */
export { readGitHubApp } from './app/read-github-app.ts';
export { createRunnerService, type RunnerServiceOptions } from './create-runner-service.ts';
export type { CallReport } from './http/exchange.ts';
export { ownerOf } from './owner.ts';
export type { GitHubApp, Owner, Problem, Registration, Runner, RunnerService } from './runner-service.ts';
