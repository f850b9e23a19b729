import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@tartan/kube/testing';
import type { Fault } from './agent/settings.ts';
import { digest, type Harness, image, type TestPod } from './harness.ts';
import { foreignVms } from './monitor.ts';

const phaseOf = (harness: Harness, pod: TestPod): string | undefined => harness.seen(pod)?.status?.phase;

export const isRunning = (harness: Harness, pod: TestPod): boolean => {
  const { containerStatuses, phase, podIP } = harness.seen(pod)?.status ?? {};
  return phase === 'Running' && podIP !== undefined && containerStatuses?.[0]?.state?.running !== undefined;
};

export const hasEnded = (harness: Harness, pod: TestPod): boolean =>
  ['Succeeded', 'Failed'].includes(phaseOf(harness, pod) ?? '');

/**
 * The agent died after it created the output file of tart: it is unknown whether the process was started, so the run counts as started and
 * ended. At most once: rather one run too few than a job that runs twice.
 */
export const mayLoseARun = (fault: Fault | undefined): boolean =>
  fault !== undefined && /^open logs\/\S+\.raw$/.test(fault.name);

/** Running; or ended before it ran, where that is allowed. */
export const runs = async (harness: Harness, pod: TestPod, fault?: Fault): Promise<boolean> => {
  const isLost = (): boolean => mayLoseARun(fault) && hasEnded(harness, pod);
  await eventually(`${pod.name} runs`, () => isRunning(harness, pod) || isLost());
  return !isLost();
};

const expect = (harness: Harness, what: string, is: unknown, should: unknown): void => {
  if (is !== should) harness.problems.push(`${what}: ${String(is)}, not ${String(should)}`);
};

/** How it ended, according to the server, and how often it booted. */
export const ended = (
  harness: Harness,
  pod: TestPod,
  { boots, code, restarts = 0 }: { readonly boots: number; readonly code: number; readonly restarts?: number },
): void => {
  const { containerStatuses, phase } = harness.seen(pod)?.status ?? {};
  const container = containerStatuses?.[0];
  expect(harness, `phase of ${pod.name}`, phase, code === 0 ? 'Succeeded' : 'Failed');
  expect(harness, `exit code of ${pod.name}`, container?.state?.terminated?.exitCode, code);
  expect(harness, `restarts of ${pod.name}`, container?.restartCount, restarts);
  booted(harness, pod, boots);
};

export const booted = (harness: Harness, pod: TestPod, boots: number): void =>
  expect(harness, `boots of ${pod.name}`, harness.guests.boots(pod.vm), boots);

/** Deletes the Pods; two minutes later nothing of them is left. */
export const deletePods = async (harness: Harness, ...pods: readonly TestPod[]): Promise<void> => {
  for (const pod of pods) if (harness.seen(pod)?.metadata?.deletionTimestamp === undefined) await harness.delete(pod);
  await eventually(`${pods.map(({ name }) => name).join(' and ')} is gone`, () =>
    pods.every((pod) => harness.seen(pod) === undefined),
  );
  await expectNothingLeft(harness);
};

/** Nothing of any Pod is left, and all foreign virtual machines exist. */
export const expectNothingLeft = async (harness: Harness): Promise<void> => {
  const isForeign = (name: string): boolean => foreignVms.some((one) => one === name);
  const left = (): string[] => [
    ...harness
      .vms()
      .filter((name) => !isForeign(name))
      .map((name) => `vms/${name}`),
    ...(['guests', 'journal', 'logs'] as const).flatMap((folder) =>
      harness.files(folder).map((name) => `${folder}/${name}`),
    ),
  ];
  await harness
    .advanceUntil('nothing is left', 125_000, () => left().length === 0)
    .catch(() => harness.problems.push(`left behind: ${left().join(', ')}`));
  imagesAreKnown(harness);
};

/** Pulled images and golden bases have a record, so that they can be garbage-collected. */
const imagesAreKnown = ({ files, folder, problems, tart: { home } }: Harness): void => {
  const records = files('images').map(
    (file) => JSON.parse(readFileSync(join(folder, 'images', file), 'utf8')) as { kind: string; name: string },
  );
  const isMade = (name: string): boolean => records.some((one) => one.kind === 'made' && one.name === name);
  for (const { kind, name } of records) if (kind !== 'made') problems.push(`there is a record of ${kind} ${name}`);
  const repository = image.replace(/:.*/, '');
  if (existsSync(join(home, 'cache/OCIs', repository, digest)) && !isMade(`${repository}@${digest}`))
    problems.push('the image has no record');
  for (const golden of readdirSync(join(home, 'vms')).filter((name) => name.startsWith('tuist-golden-')))
    if (!isMade(golden) || !existsSync(join(home, 'vms', golden, 'tartan.json')))
      problems.push(`${golden} has no record`);
};
