/** The command line of the agent. */
export type { AgentOptions } from './agent-options.ts';
export { type Asked, parseFlags } from './parse-flags.ts';
