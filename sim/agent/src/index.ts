/** The agent of a simulated Mac, played from outside: a Node that joins, reports and renews its Lease, and no Pods. */
export type { AgentFaults } from './faults.ts';
export { type AgentOptions, playAgent, type PlayedAgent } from './play-agent.ts';
export { type AgentFiles, standInAgent, type StandInFile } from './stand-in-agent.ts';
