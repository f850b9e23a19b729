import { existsSync, readFileSync } from 'node:fs';
import { eventually } from '@tartan/kube/testing';
import type { Mac } from '@tartan/sim-mac';
import { agentLog } from '../agent/job.ts';
import type { Artifact } from '../artifacts/artifact.ts';
import { quote } from '../engine/compose-script.ts';
import { exampleArtifact } from './example-spec.ts';

/** Stands in for the stock node: runs the node of this test, with the folder of the simulated Mac's files. */
export const standInRuntime = (folder: string, version: string): Artifact =>
  exampleArtifact(
    folder,
    `node ${version}`,
    `#!/bin/sh
# node ${version}
script=$1
shift
exec ${quote(process.execPath)} "\${TARTAN_ROOT:-}$script" "$@"
`,
  );

/** A runtime that cannot start. */
export const brokenRuntime = (folder: string): Artifact => exampleArtifact(folder, 'node', '#!/no/such/interpreter\n');

/** Stands in for the agent: like the real one it refuses unexpected arguments and logs that; otherwise it stays up. */
export const standInAgent = (folder: string, version: string): Artifact =>
  exampleArtifact(
    folder,
    `tart-kubelet ${version}`,
    `import { createHash } from 'node:crypto';
import { readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
const given = process.argv.slice(2);
const hash = createHash('sha256').update(given.map((word) => word + '\\0').join('')).digest('hex');
// Where the release really lies, not \`current\`: that may be another one by now.
const expected = readFileSync(join(import.meta.dirname, 'arguments'), 'utf8').trim();
const say = (event) => writeSync(1, JSON.stringify({ version: ${JSON.stringify(version)}, event, arguments: given }) + '\\n');
if (hash !== expected) {
  say('refused');
  process.exit(78);
}
say('ran');
setInterval(() => {}, 1 << 30);
`,
  );

export interface AgentEvent {
  readonly version: string;
  readonly event: 'ran' | 'refused';
  readonly arguments: readonly string[];
}

const isEvent = (value: unknown): value is AgentEvent =>
  typeof value === 'object' && value !== null && 'event' in value;

/** Every start of a stand-in agent on this Mac, in order. */
export const agentEvents = (mac: Pick<Mac, 'path'>): AgentEvent[] => {
  const log = mac.path(agentLog);
  if (!existsSync(log)) return [];
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): unknown => JSON.parse(line))
    .filter(isEvent);
};

/** Resolves when the events of the stand-in agents are as expected: the agents are processes and need time to start. */
export const agentsSay = async (
  mac: Pick<Mac, 'path'>,
  isExpected: (events: readonly AgentEvent[]) => boolean,
): Promise<AgentEvent[]> => {
  await eventually('the agents have started as expected', () => isExpected(agentEvents(mac)));
  return agentEvents(mac);
};
