import { readFileSync, statSync } from 'node:fs';
import type { Machine } from '../machine.ts';
import { isDict, MalformedPlist, parsePlist, type PlistDict, type PlistValue } from '../plist.ts';
import type { Domain } from './target.ts';

/** The settings of a property list. Times in seconds. */
export interface JobDescription {
  readonly label: string;
  readonly program: string;
  /** The whole argv, including the program. */
  readonly arguments: readonly string[];
  readonly userName: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string | undefined;
  readonly standardOutPath: string | undefined;
  readonly standardErrorPath: string | undefined;
  readonly runAtLoad: boolean;
  readonly keepAlive: 'never' | 'always' | 'after success' | 'after failure';
  readonly throttleInterval: number;
  readonly startInterval: number | undefined;
  readonly exitTimeOut: number;
  readonly abandonProcessGroup: boolean;
}

/** launchd's minimum restart interval (`minimum runtime = 10` in `launchctl print`). */
const minimumThrottle = 10;

const textAt = (dict: PlistDict, key: string): string | undefined => {
  const value = dict[key];
  return typeof value === 'string' ? value : undefined;
};

const secondsAt = (dict: PlistDict, key: string): number | undefined => {
  const value = dict[key];
  return typeof value === 'number' ? value : undefined;
};

const wordsAt = (dict: PlistDict, key: string): readonly string[] | undefined => {
  const value = dict[key];
  return Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : undefined;
};

const textsIn = (value: PlistValue | undefined): Record<string, string> =>
  isDict(value)
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      )
    : {};

const keepAliveOf = (value: PlistValue | undefined): JobDescription['keepAlive'] => {
  if (!isDict(value)) return value === true ? 'always' : 'never';
  if (value['SuccessfulExit'] === true) return 'after success';
  if (value['SuccessfulExit'] === false) return 'after failure';
  return 'always';
};

/** `undefined`: not a valid job. */
const describeJob = (plist: PlistValue): JobDescription | undefined => {
  if (!isDict(plist)) return undefined;
  const label = textAt(plist, 'Label');
  const words = wordsAt(plist, 'ProgramArguments');
  const program = textAt(plist, 'Program') ?? words?.[0];
  if (!label || !program?.startsWith('/')) return undefined;
  return {
    label,
    program,
    arguments: words ?? [program],
    userName: textAt(plist, 'UserName'),
    environment: textsIn(plist['EnvironmentVariables']),
    workingDirectory: textAt(plist, 'WorkingDirectory'),
    standardOutPath: textAt(plist, 'StandardOutPath'),
    standardErrorPath: textAt(plist, 'StandardErrorPath'),
    runAtLoad: plist['RunAtLoad'] === true,
    keepAlive: keepAliveOf(plist['KeepAlive']),
    throttleInterval: Math.max(minimumThrottle, secondsAt(plist, 'ThrottleInterval') ?? minimumThrottle),
    startInterval: secondsAt(plist, 'StartInterval'),
    exitTimeOut: secondsAt(plist, 'ExitTimeOut') ?? 5,
    abandonProcessGroup: plist['AbandonProcessGroup'] === true,
  };
};

/** KeepAlive implies a first start. */
export const startsWhenLoaded = ({ runAtLoad, keepAlive }: JobDescription): boolean =>
  runAtLoad || keepAlive !== 'never';

const groupOrWorldWritable = 0o022;

/** Whether launchd trusts a property list: owned by root, or for a LaunchAgent by its user, and not writable for others. */
export const isTrusted = (machine: Machine, file: string, domain: Domain): boolean => {
  const { user } = machine.ownerOf(file);
  const isOwned = user === 'root' || (domain.kind === 'gui' && user === machine.user.name);
  return isOwned && (statSync(file).mode & groupOrWorldWritable) === 0;
};

/** `undefined`: missing, or not a valid job. */
export const readJob = (file: string): JobDescription | undefined => {
  let xml: string;
  try {
    xml = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  try {
    return describeJob(parsePlist(xml));
  } catch (error) {
    if (error instanceof MalformedPlist) return undefined;
    throw error;
  }
};
