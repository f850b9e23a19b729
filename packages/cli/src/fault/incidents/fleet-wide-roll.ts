import { readFileSync } from 'node:fs';
import { macFleet } from '@tartan/api';
import { aMember, readyMembers } from '../cast.ts';
import type { Fault, Scene } from '../fault.ts';
import { currentVersion, following, roll, untilRolled } from '../release.ts';
import { untilAll } from '../waiting.ts';

/** The most that the managers have needed so far, as Linux tells it. */
const peakMemory = ({ simulation }: Scene): string => {
  try {
    const peaks = simulation.providers
      .running()
      .map(({ pid }) => Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]));
    return ` and needed ${Math.round(Math.max(...peaks) / 1024)} MB at most`;
  } catch {
    return '';
  }
};

/** Resolves when all is rolled, with the most turns that a fleet had at a time. */
const countTurns = async (scene: Scene, rolled: Promise<void>): Promise<number> => {
  let most = 0;
  const over = new AbortController();
  const signal = AbortSignal.any([scene.signal, over.signal]);
  const watching = untilAll({ ...scene, signal }, macFleet.resource, '', (fleets) => {
    most = Math.max(most, ...fleets.map(({ status }) => (status?.turns ?? []).length));
    return false;
  }).catch(() => {});
  await rolled.finally(() => over.abort());
  await watching;
  return most;
};

export const fleetWideRoll: Fault = {
  name: 'fleet-wide-roll',
  title:
    'A new agent is due on every Mac at once: four copies of it were in memory, and the manager was killed for it (seed 000).',
  watch: ['tartan roll status -w', 'kubectl get macfleets -w'],
  play: async (scene) => {
    await aMember(scene);
    const version = following(await currentVersion(scene));
    await roll(scene, { version });
    const restarts = (): number => scene.simulation.providers.running().reduce((sum, each) => sum + each.restarts, 0);
    const most = await countTurns(scene, untilRolled(scene, version));
    const count = (await readyMembers(scene)).length;
    const peak = peakMemory(scene);
    if (restarts() > 0) throw new Error(`the manager was restarted ${restarts()} times in the roll`);
    return `All ${count} machines run agent ${version}; of a fleet never more than ${most} at a time had a turn. The manager was not restarted${peak}. Nobody has to do anything.`;
  },
};
