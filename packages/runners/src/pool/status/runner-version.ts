import { buildCondition, type RunnerPoolStatus } from '@tartan/api';
import type { ConditionUpdate } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';

type RunnerVersionStatus = NonNullable<RunnerPoolStatus['runner']>;

const day = 24 * 3_600_000;
/** GitHub gives no jobs to a runner that is older than a release for this long (GitHub's documentation, "Runner software updates"). */
const gracePeriodMs = 30 * day;

const compareVersions = (one: string, other: string): number => one.localeCompare(other, 'en', { numeric: true });

/**
 * How old the runners of a pool are. `reported`: the releases that Pods report; without any, the last report counts. GitHub does not tell
 * the date of a release, so its age counts from when this controller first saw it.
 */
export const runnerVersionStatusOf = (
  previous: RunnerVersionStatus | undefined,
  reported: readonly string[],
  newestNow: string | undefined,
  now: number,
): RunnerVersionStatus | undefined => {
  const version = reported.toSorted(compareVersions)[0] ?? previous?.version;
  const newest = newestNow ?? previous?.newest;
  if (version === undefined && newest === undefined) return undefined;
  const newestSince =
    newest === undefined ? undefined : newest === previous?.newest ? previous.newestSince : timestamp(now);
  const isBehind = version !== undefined && newest !== undefined && compareVersions(version, newest) < 0;
  const since = isBehind && version === previous?.version ? previous.outdatedSince : undefined;
  const outdatedSince = isBehind ? (since ?? newestSince) : undefined;
  return {
    ...(version !== undefined && { version }),
    ...(newest !== undefined && { newest }),
    ...(newestSince !== undefined && { newestSince }),
    ...(outdatedSince !== undefined && { outdatedSince }),
  };
};

export const runnerOutdatedCondition = (age: RunnerVersionStatus | undefined, now: number): ConditionUpdate => {
  const { version, newest, outdatedSince } = age ?? {};
  if (version === undefined || newest === undefined)
    return buildCondition('RunnerPool', 'RunnerOutdated', 'VersionUnknown');
  if (outdatedSince === undefined)
    return buildCondition('RunnerPool', 'RunnerOutdated', 'UpToDate', `Runners report ${version}.`);
  const end = Date.parse(outdatedSince) + gracePeriodMs;
  const facts = `Runners report ${version}. A newer release was first seen ${outdatedSince}; the newest is ${newest}.`;
  const remedy = 'Build an image with the newest runner, and set spec.image.';
  const when = now < end ? `from ${timestamp(end)} at the latest` : `since ${timestamp(end)}`;
  const message = `${facts} GitHub gives no jobs to ${version} ${when}. ${remedy}`;
  return buildCondition('RunnerPool', 'RunnerOutdated', now < end ? 'UpdateDue' : 'Refused', message);
};
