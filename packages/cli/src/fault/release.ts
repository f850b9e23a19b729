import { annotations, macFleet } from '@tartan/api';
import { nodes } from '@tartan/kube';
import type { AgentRelease } from '../simulation/artifacts.ts';
import { isReadyNode, nodesOf, readyMembers } from './cast.ts';
import type { Scene } from './fault.ts';
import { untilAll } from './waiting.ts';

const parts = (version: string): number[] => version.replace(/^v/, '').split('.').map(Number);

const isLater = (one: string, other: string): boolean => {
  const [left, right] = [parts(one), parts(other)];
  const at = left.findIndex((part, index) => part !== (right[index] ?? 0));
  return at >= 0 && (left[at] ?? 0) > (right[at] ?? 0);
};

/** The latest of these, and nothing of none. */
export const latest = (versions: readonly string[]): string =>
  versions.reduce((last, each) => (isLater(each, last) ? each : last), '0.0.0').replace(/^v/, '');

/** `0.1.0` is followed by `0.1.1`. */
export const following = (version: string): string => {
  const [major = 0, minor = 0, patch = 0] = parts(version);
  return `${major}.${minor}.${patch + 1}`;
};

/** Of the agents that run. */
export const currentVersion = async (scene: Scene): Promise<string> =>
  latest((await nodesOf(scene)).flatMap(({ metadata }) => metadata.annotations?.[annotations.agentVersion] ?? []));

/** Managers that bring this agent, and what their roll needs. */
export const roll = async (scene: Scene, release: AgentRelease, flags: readonly string[] = []): Promise<void> => {
  scene.say(
    `The provider is replaced by one that brings agent ${release.version}${flags.map((flag) => ` (${flag})`).join('')}.`,
  );
  await scene.simulation.upgrade(release, { flags });
};

/** Every machine that is Ready now runs it and is Ready, and no fleet has a turn left. */
export const untilRolled = async (scene: Scene, version: string): Promise<void> => {
  const members = new Set((await readyMembers(scene)).map(({ name }) => name));
  await untilAll(scene, nodes, `all Nodes run ${version}`, (all) =>
    all
      .filter(({ metadata }) => members.has(metadata.name))
      .every((node) => isReadyNode(node) && node.metadata.annotations?.[annotations.agentVersion] === `v${version}`),
  );
  await untilAll(scene, macFleet.resource, 'all fleets are up to date', (all) =>
    all.every(({ status }) => (status?.turns ?? []).length === 0 && status?.updated === status?.existing),
  );
};
