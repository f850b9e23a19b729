import { annotations, macFleet } from '@tartan/api';
import { nodes } from '@tartan/kube';
import type { AgentRelease } from '@tartan/sim-fleet';
import type { FaultContext } from './fault.ts';
import { isReadyNode, listNodes, readyMachines } from './targets.ts';
import { untilAll } from './wait.ts';

export const latestVersion = (versions: readonly string[]): string =>
  versions
    .map((version) => version.replace(/^v/, ''))
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .at(-1) ?? '0.0.0';

/** `0.1.0` is followed by `0.1.1`. */
export const nextPatch = (version: string): string => version.replace(/\d+$/, (patch) => String(Number(patch) + 1));

/** The latest version among the running agents. */
export const currentVersion = async (context: FaultContext): Promise<string> =>
  latestVersion(
    (await listNodes(context)).flatMap(({ metadata }) => metadata.annotations?.[annotations.agentVersion] ?? []),
  );

/** Replaces the managers by ones that roll out this agent. */
export const roll = async (
  context: FaultContext,
  release: AgentRelease,
  flags: readonly string[] = [],
): Promise<void> => {
  context.report(
    `The provider is upgraded, and rolls out agent ${release.version}${flags.map((flag) => ` (${flag})`).join('')}.`,
  );
  await context.simulation.upgrade(release, { flags });
};

/** Waits until every machine that is Ready now runs this agent, and no fleet has a turn left. */
export const untilRolled = async (context: FaultContext, version: string): Promise<void> => {
  const members = new Set((await readyMachines(context)).map(({ name }) => name));
  await untilAll(context, nodes, `all Nodes run ${version}`, (all) =>
    all
      .filter(({ metadata }) => members.has(metadata.name))
      .every((node) => isReadyNode(node) && node.metadata.annotations?.[annotations.agentVersion] === `v${version}`),
  );
  await untilAll(context, macFleet.resource, 'all fleets are up to date', (all) =>
    all.every(({ status }) => (status?.turns ?? []).length === 0 && status?.updated === status?.existing),
  );
};
