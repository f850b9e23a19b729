import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from './agent/settings.ts';
import { foreignVms } from './monitor.ts';
import { digest, image, type Made, type World } from './world.ts';

const phaseOf = (world: World, pod: Made): string | undefined => world.seen(pod)?.status?.phase;

export const isRunning = (world: World, pod: Made): boolean => {
  const { containerStatuses, phase, podIP } = world.seen(pod)?.status ?? {};
  return phase === 'Running' && podIP !== undefined && containerStatuses?.[0]?.state?.running !== undefined;
};

export const hasEnded = (world: World, pod: Made): boolean =>
  ['Succeeded', 'Failed'].includes(phaseOf(world, pod) ?? '');

/**
 * The output of tart was made, and then the agent died: nobody can tell whether the process was started, so the run counts as one that
 * was, and as ended. Rather one run too few than a job that runs twice (at most once).
 */
export const mayLoseARun = (fault: Fault | undefined): boolean =>
  fault !== undefined && /^open logs\/\S+\.raw$/.test(fault.name);

/** Running; or ended before it ever was, where that is allowed. */
export const runs = async (world: World, pod: Made, fault?: Fault): Promise<boolean> => {
  const isLost = (): boolean => mayLoseARun(fault) && hasEnded(world, pod);
  await world.until(`${pod.name} runs`, () => isRunning(world, pod) || isLost());
  return !isLost();
};

const expect = (world: World, what: string, is: unknown, should: unknown): void => {
  if (is !== should) world.problems.push(`${what}: ${String(is)}, not ${String(should)}`);
};

/** How it ended, as the server says, and how often it was on. */
export const ended = (
  world: World,
  pod: Made,
  { boots, code, restarts = 0 }: { readonly boots: number; readonly code: number; readonly restarts?: number },
): void => {
  const { containerStatuses, phase } = world.seen(pod)?.status ?? {};
  const container = containerStatuses?.[0];
  expect(world, `phase of ${pod.name}`, phase, code === 0 ? 'Succeeded' : 'Failed');
  expect(world, `exit code of ${pod.name}`, container?.state?.terminated?.exitCode, code);
  expect(world, `restarts of ${pod.name}`, container?.restartCount, restarts);
  booted(world, pod, boots);
};

export const booted = (world: World, pod: Made, boots: number): void =>
  expect(world, `boots of ${pod.name}`, world.guests.boots(pod.vm), boots);

/** The Pod goes away, and two minutes later everything of it has. */
export const goesAway = async (world: World, ...pods: readonly Made[]): Promise<void> => {
  for (const pod of pods) if (world.seen(pod)?.metadata?.deletionTimestamp === undefined) await world.delete(pod);
  await world.until(`${pods.map(({ name }) => name).join(' and ')} is gone`, () =>
    pods.every((pod) => world.seen(pod) === undefined),
  );
  await leavesNothing(world);
};

/** Nothing of any Pod is left, and all that is somebody else's. */
export const leavesNothing = async (world: World): Promise<void> => {
  const isForeign = (name: string): boolean => foreignVms.some((one) => one === name);
  const left = (): string[] => [
    ...world
      .vms()
      .filter((name) => !isForeign(name))
      .map((name) => `vms/${name}`),
    ...(['guests', 'journal', 'logs'] as const).flatMap((folder) =>
      world.files(folder).map((name) => `${folder}/${name}`),
    ),
  ];
  await world
    .leapUntil('nothing is left', 125_000, () => left().length === 0)
    .catch(() => world.problems.push(`left behind: ${left().join(', ')}`));
  imagesAreKnown(world);
};

/** What was fetched and made of it is written down, so that it can be collected one day. */
const imagesAreKnown = ({ files, folder, problems, tart: { home } }: World): void => {
  const records = files('images').map(
    (file) => JSON.parse(readFileSync(join(folder, 'images', file), 'utf8')) as { kind: string; name: string },
  );
  const isMade = (name: string): boolean => records.some((one) => one.kind === 'made' && one.name === name);
  for (const { kind, name } of records) if (kind !== 'made') problems.push(`there is a record of ${kind} ${name}`);
  const repository = image.replace(/:.*/, '');
  if (existsSync(join(home, 'cache/OCIs', repository, digest)) && !isMade(`${repository}@${digest}`))
    problems.push('nobody knows who fetched the image');
  for (const golden of readdirSync(join(home, 'vms')).filter((name) => name.startsWith('tuist-golden-')))
    if (!isMade(golden) || !existsSync(join(home, 'vms', golden, 'tartan.json')))
      problems.push(`nobody knows who made ${golden}`);
};
