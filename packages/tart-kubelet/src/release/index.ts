/** Which agent this is, and whether it runs as it was meant to. */
export { checkArguments, type Verdict, wrongArguments } from './check-arguments.ts';
export { agentVersion } from './version.ts';
